-- Read all keys of a record at one moment.
--
-- KEYS[1]   the main key of the record
-- KEYS[2+]  its other keys: hashes, lists or strings
--
-- Returns a list for each key: its type, when it expires in milliseconds since 1970 or -1 for never,
-- and its values. The list is empty for a key that does not exist. A key of another type has no
-- values.

local readers = {
  hash = function(key) return redis.call('HGETALL', key) end,
  list = function(key) return redis.call('LRANGE', key, 0, -1) end,
  string = function(key) return {redis.call('GET', key)} end,
}

local found = {}
for i, key in ipairs(KEYS) do
  local kind = redis.call('TYPE', key).ok
  found[i] = {}
  if kind ~= 'none' then
    local read = readers[kind]
    found[i] = read and read(key) or {}
    table.insert(found[i], 1, kind)
    table.insert(found[i], 2, redis.call('PEXPIRETIME', key))
  end
end
return found
