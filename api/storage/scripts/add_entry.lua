-- Add a game to an index, and remove some expired entries.
--
-- KEYS[1]  the index: sorted set of game ids by time of creation
-- KEYS[2]  its expiry times: sorted set of the same ids by the time when the entry expires
-- ARGV[1]  id of the game
-- ARGV[2]  time of its creation, in milliseconds
-- ARGV[3]  time now, in milliseconds
-- ARGV[4]  time to live of the entry, in milliseconds
-- ARGV[5]  how many expired entries to remove at most, and how many that are too many
-- ARGV[6]  how many entries the index has at most; the oldest games are removed
--
-- Returns nothing. An entry that expires later is left so: the commit may fail, and the game go on
-- as it was. Both keys expire with their last entry.

local id, created_at, now, ttl = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local function remove(ids)
  for _, key in ipairs(KEYS) do
    if #ids > 0 then
      redis.call('ZREM', key, unpack(ids))
    end
  end
end

redis.call('ZADD', KEYS[1], created_at, id)
redis.call('ZADD', KEYS[2], 'GT', now + ttl, id)
remove(redis.call('ZRANGE', KEYS[2], '-inf', '(' .. now, 'BYSCORE', 'LIMIT', 0, ARGV[5]))
-- Before the surplus is removed: without the expiry times of others, that may be the last one.
local last = redis.call('ZRANGE', KEYS[2], 0, 0, 'REV', 'WITHSCORES')
local surplus = math.min(redis.call('ZCARD', KEYS[1]) - ARGV[6], ARGV[5])
if surplus > 0 then
  remove(redis.call('ZRANGE', KEYS[1], 0, surplus - 1))
end
for _, key in ipairs(KEYS) do
  redis.call('PEXPIRE', key, last[2] - now)
end
