-- Add a game to an index, and remove some expired entries.
--
-- KEYS[1]  the index: sorted set of game ids by time of creation
-- KEYS[2]  its expiry times: sorted set of the same ids by the time when the entry expires
-- ARGV[1]  id of the game
-- ARGV[2]  time of its creation, in milliseconds
-- ARGV[3]  time now, in milliseconds
-- ARGV[4]  time to live of the entry, in milliseconds
-- ARGV[5]  'GT' to keep a later expiry time, 'CH' to replace it
-- ARGV[6]  how many expired entries to remove at most
-- ARGV[7]  how many entries the index has at most; the oldest games are removed
--
-- Returns nothing. Both keys expire with their last entry.

local id, created_at, now, ttl, mode = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]
redis.call('ZADD', KEYS[1], created_at, id)
redis.call('ZADD', KEYS[2], mode, now + ttl, id)
local expired = redis.call('ZRANGE', KEYS[2], '-inf', '(' .. now, 'BYSCORE', 'LIMIT', 0, ARGV[6])
for _, key in ipairs(KEYS) do
  if #expired > 0 then
    redis.call('ZREM', key, unpack(expired))
  end
end
local surplus = redis.call('ZRANGE', KEYS[1], 0, -1 - ARGV[7])
for _, key in ipairs(KEYS) do
  if #surplus > 0 then
    redis.call('ZREM', key, unpack(surplus))
  end
end
local last = redis.call('ZRANGE', KEYS[2], 0, 0, 'REV', 'WITHSCORES')
for _, key in ipairs(KEYS) do
  redis.call('PEXPIRE', key, last[2] - now)
end
