-- Write a game again as it is, so that WAIT counts the replicas that have its last commit.
--
-- KEYS[1]  the game: hash
-- ARGV[1]  id of the last commit, as it was read
--
-- Returns 1, or 0 if the game has another commit by now.

if redis.call('HGET', KEYS[1], 'commit') ~= ARGV[1] then
  return 0
end
local ttl = redis.call('PTTL', KEYS[1])
if ttl > 0 then
  redis.call('PEXPIRE', KEYS[1], ttl)
end
return 1
