-- Note when a player was last seen.
--
-- KEYS[1]  the player: hash
-- ARGV[1]  time, in milliseconds
--
-- Returns nothing. Does nothing if the player has expired.

if redis.call('EXISTS', KEYS[1]) == 1 then
  redis.call('HSET', KEYS[1], 'seen_at', ARGV[1])
end
