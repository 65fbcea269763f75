-- Write all keys of a record, in place of what the store has of it.
--
-- KEYS[1]   the main key of the record
-- KEYS[2+]  its other keys
-- ARGV[1]   'new' to write only a record that the store does not have, else ''
-- ARGV[2+]  for each key: its type (hash, list, string, or '' for a key that the record does not
--           have), when it expires in milliseconds since 1970 or -1 for never, the number of its
--           values, and its values
--
-- Returns 1 if written, 0 if the store has the record.

-- How many values one command takes; an even number, for the fields and values of a hash.
local chunk = 1000
local writers = {hash = 'HSET', list = 'RPUSH', string = 'SET'}

if ARGV[1] == 'new' and redis.call('EXISTS', KEYS[1]) == 1 then
  return 0
end

-- This write changes nothing, but a store that is full refuses it. The deletion after it would be
-- accepted, and scripts are not rolled back.
local probe = redis.pcall('SETRANGE', KEYS[1], 0, '')
if type(probe) == 'table' and not string.find(probe.err, 'WRONGTYPE', 1, true) then
  return probe
end

redis.call('DEL', unpack(KEYS))
local at = 2
for _, key in ipairs(KEYS) do
  local kind, expires_at, count = ARGV[at], ARGV[at + 1], tonumber(ARGV[at + 2])
  local first, last = at + 3, at + 2 + count
  for from = first, last, chunk do
    redis.call(writers[kind], key, unpack(ARGV, from, math.min(from + chunk - 1, last)))
  end
  if kind ~= '' and expires_at ~= '-1' then
    redis.call('PEXPIREAT', key, expires_at)
  end
  at = last + 1
end
return 1
