-- Note when a player was last seen, and keep it for at least this long from now on.
--
-- KEYS[1]  the player: hash
-- ARGV[1]  time, in milliseconds
-- ARGV[2]  time to live, in milliseconds; a longer one is not shortened
--
-- Returns nothing. Does nothing if the player has expired.

if redis.call('EXISTS', KEYS[1]) == 1 then
  redis.call('HSET', KEYS[1], 'seen_at', ARGV[1])
  if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then
    redis.call('PEXPIRE', KEYS[1], ARGV[2])
  end
end
