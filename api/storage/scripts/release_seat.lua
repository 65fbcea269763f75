-- Remove the reservation of a player who does not take the seat.
--
-- KEYS[1]  the queue, as in assign_seat.lua
-- ARGV[1]  the player
-- ARGV[2]  id of the game
--
-- Returns nothing. The queue keeps its time to live.

local stored = redis.call('GET', KEYS[1])
local listed = stored and cjson.decode(stored) or {}
for _, game in ipairs(listed) do
  if game.id == ARGV[2] and game.seats[ARGV[1]] then
    game.seats[ARGV[1]] = nil
    redis.call('SET', KEYS[1], cjson.encode(listed), 'KEEPTTL')
  end
end
