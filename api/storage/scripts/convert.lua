-- Store a game in another format: the same game, at the same version.
--
-- KEYS[1]  the game: hash
-- KEYS[2]  its history: list
-- ARGV[1]  expected version
-- ARGV[2]  expected id of the last commit
-- ARGV[3+] two lists, each preceded by the number of its elements:
--          fields of the game and their values;
--          all items of the history, as JSON, oldest first
--
-- Returns 1, or 0 if the game has changed. A retry writes the same again.

local stored = redis.call('HMGET', KEYS[1], 'version', 'commit')
if stored[1] ~= ARGV[1] or stored[2] ~= ARGV[2] then
  return 0
end
local field_count = tonumber(ARGV[3])
local first_item = 5 + field_count
local item_count = tonumber(ARGV[first_item - 1])
-- An item that is missing must fail here, before the first write: scripts are not rolled back.
if redis.call('LLEN', KEYS[2]) ~= item_count then
  return 0
end
redis.call('HSET', KEYS[1], unpack(ARGV, 4, 3 + field_count))
for i = 1, item_count do
  redis.call('LSET', KEYS[2], i - 1, ARGV[first_item + i - 1])
end
return 1
