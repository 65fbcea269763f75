-- Commit one change of a game, if the game still is as the change was decided on.
--
-- KEYS[1]  the game: hash; its name is also the channel where the commit is published
-- KEYS[2]  its history: list; the step of version v is at index v - 1, unless the game has ended
-- KEYS[3]  its played moves, if it is stored in format 1: hash
-- ARGV[1]  command that publishes: PUBLISH, or SPUBLISH on a cluster
-- ARGV[2]  expected version, '' for a new game
-- ARGV[3]  expected id of the previous commit, '' for a new game
-- ARGV[4]  id of this commit
-- ARGV[5]  time to live of the three keys, in milliseconds
-- ARGV[6]  expected length of the history
-- ARGV[7]  'ends' if the fields below replace all that is stored of the game, else ''
-- ARGV[8+] three lists, each preceded by the number of its elements:
--          fields of the game and their values, beginning with 'version' and the new version;
--          new steps of the history, as JSON, oldest first;
--          played moves and their values, for KEYS[3]
--
-- Returns 1 if committed (now, or by an earlier attempt of this commit), 0 on a conflict,
-- -1 if the history has another length.

local publish, ttl = ARGV[1], ARGV[5]
local stored = redis.call('HMGET', KEYS[1], 'version', 'commit')
if stored[2] == ARGV[4] then
  -- A retry: the reply of the first attempt was lost. This write makes WAIT count the replicas
  -- that have the commit, as WAIT covers only the writes of its own connection.
  redis.call('PEXPIRE', KEYS[1], ttl)
  return 1
end
if (stored[1] or '') ~= ARGV[2] or (stored[2] or '') ~= ARGV[3] then
  return 0
end

-- A key of a wrong type must fail here, before the first write: scripts are not rolled back.
local item_count = redis.call('LLEN', KEYS[2])
redis.call('HLEN', KEYS[3])
if item_count ~= tonumber(ARGV[6]) then
  return -1
end

local at = 8
local function read_list()
  local values = {}
  for i = 1, tonumber(ARGV[at]) do
    values[i] = ARGV[at + i]
  end
  at = at + 1 + #values
  return values
end
local fields = read_list()
local items = read_list()
local played = read_list()
local version = fields[2]

if ARGV[7] == 'ends' then
  -- This write changes nothing, but a store that is full refuses it. A later one it would not
  -- refuse, as scripts are not stopped halfway.
  redis.call('HSET', KEYS[1], 'commit', ARGV[3])
  redis.call('DEL', unpack(KEYS))
end
redis.call('HSET', KEYS[1], 'commit', ARGV[4], unpack(fields))
if #items > 0 then
  redis.call('RPUSH', KEYS[2], unpack(items))
end
if #played > 0 then
  redis.call('HSET', KEYS[3], unpack(played))
end
for _, key in ipairs(KEYS) do
  redis.call('PEXPIRE', key, ttl)
end
if type(redis.pcall(publish, KEYS[1], version)) == 'table' then
  -- An error: clusters before Redis 7 do not know SPUBLISH.
  redis.call('PUBLISH', KEYS[1], version)
end
return 1
