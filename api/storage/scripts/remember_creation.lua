-- Store the game that a player created with an Idempotency-Key, unless the key was used before.
--
-- KEYS[1]  the creation: string
-- ARGV[1]  the creation, as JSON
-- ARGV[2]  time to live, in milliseconds
--
-- Returns the creation that is stored now: the first one with this Idempotency-Key.

local first = redis.call('GET', KEYS[1])
if first then
  -- A write, so that WAIT counts the replicas that have it.
  redis.call('PEXPIRE', KEYS[1], redis.call('PTTL', KEYS[1]))
  return first
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return ARGV[1]
