-- Add a game that has ended to a player's index of ended games, and remove some expired entries.
--
-- KEYS[1]  the index: sorted set of game ids by time of their end
-- ARGV[1]  id of the game
-- ARGV[2]  time of its end, in milliseconds
-- ARGV[3]  time to live of the entry, in milliseconds; a longer one of the key is not shortened
-- ARGV[4]  how many expired entries to remove at most
--
-- Returns nothing. The key expires with its last entry.

local id, ended_at, ttl = ARGV[1], ARGV[2], ARGV[3]
redis.call('ZADD', KEYS[1], ended_at, id)
local expired =
  redis.call('ZRANGE', KEYS[1], '-inf', ended_at - ttl, 'BYSCORE', 'LIMIT', 0, ARGV[4])
if #expired > 0 then
  redis.call('ZREM', KEYS[1], unpack(expired))
end
if redis.call('PTTL', KEYS[1]) < tonumber(ttl) then
  redis.call('PEXPIRE', KEYS[1], ttl)
end
