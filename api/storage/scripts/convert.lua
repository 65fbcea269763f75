-- Store a game in another format: the same game, at the same version, for as long as before.
--
-- KEYS[1]  the game: hash
-- KEYS[2]  its history: list
-- KEYS[3]  its played moves: hash
-- ARGV[1]  expected version
-- ARGV[2]  expected id of the last commit
-- ARGV[3]  expected length of the history
-- ARGV[4+] two lists, each preceded by the number of its elements:
--          all fields of the game and their values;
--          all steps of the history, as JSON, oldest first
--
-- Returns 1, or 0 if the game has changed. After a retry, the history may have the new length.

local stored = redis.call('HMGET', KEYS[1], 'version', 'commit')
if stored[1] ~= ARGV[1] or stored[2] ~= ARGV[2] then
  return 0
end
local field_count = tonumber(ARGV[4])
local first_item = 6 + field_count
local item_count = tonumber(ARGV[first_item - 1])
-- A key of a wrong type, or an item that is missing, must fail here, before the first write:
-- scripts are not rolled back.
redis.call('HLEN', KEYS[3])
local length = redis.call('LLEN', KEYS[2])
if length ~= tonumber(ARGV[3]) and length ~= item_count then
  return 0
end
local ttl = redis.call('PTTL', KEYS[1])
-- As in commit.lua: it changes nothing, but a full store refuses it.
redis.call('HSET', KEYS[1], 'commit', ARGV[2])
redis.call('DEL', unpack(KEYS))
for i = 5, 3 + field_count, 2 do
  redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1])
end
for i = first_item, first_item + item_count - 1 do
  redis.call('RPUSH', KEYS[2], ARGV[i])
end
if ttl > 0 then
  for _, key in ipairs(KEYS) do
    redis.call('PEXPIRE', key, ttl)
  end
end
return 1
