-- Reserve a seat for a player in a game of a queue, or in a new game.
--
-- KEYS[1]  the queue: string, a JSON list of games, oldest first, each
--          {"id": ID, "at": time of its last reservation, "seats": {PLAYER: time}}
-- ARGV[1]  the player
-- ARGV[2]  id of the new game
-- ARGV[3]  number of seats of each game
-- ARGV[4]  what is known of the listed games, as JSON by id: "closed", "missing", or
--          {"seated": [PLAYER, ...], "left": [PLAYER, ...], "is_refused": whether to pass it over}
-- ARGV[5]  time after which a reservation lapses, in milliseconds
-- ARGV[6]  time after its last reservation for which a missing game stays listed, in milliseconds
-- ARGV[7]  most games in the queue
-- ARGV[8]  time to live of the queue, in milliseconds
--
-- Returns the id of the game: the one where the player has a seat or a reservation, else the oldest
-- with a free seat, else the new one. Open games come before those that may never be stored: players
-- wait in them. A retry returns the same game.
--
-- A full queue drops only a game without reservations that is full or refused: in any other one
-- players may wait for the next caller. Without such a game, returns nil and changes nothing.

local player, seat_count = ARGV[1], tonumber(ARGV[3])
local known = cjson.decode(ARGV[4])
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

local function is_gone(game, truth)
  return truth == 'closed' or (truth == 'missing' and now - game.at > tonumber(ARGV[6]))
end

-- Drop the reservations that have lapsed, and those that were used before their player left.
local function clean_up(game, truth)
  local live = {}
  for each, at in pairs(game.seats) do
    if now - at < tonumber(ARGV[5]) then
      live[each] = at
    end
  end
  for _, each in ipairs(truth.left) do
    live[each] = nil
  end
  if truth.is_refused then
    live[player] = nil
  end
  game.seats = live
end

-- Return whether the player has a seat or a reservation, and whether there is a free seat.
local function look(game, truth)
  local taken, count = {}, 0
  for each in pairs(game.seats) do
    taken[each] = true
  end
  for _, each in ipairs(truth.seated) do
    taken[each] = true
  end
  for _ in pairs(taken) do
    count = count + 1
  end
  return taken[player], count < seat_count
end

local stored = redis.call('GET', KEYS[1])
local listed, own, open, expected, abandoned = {}, nil, nil, nil, nil
local needless = nil -- the place of the oldest game that may be dropped
for _, game in ipairs(stored and cjson.decode(stored) or {}) do
  local truth = known[game.id]
  if not is_gone(game, truth) then
    local is_open = type(truth) == 'table'
    if not is_open then
      truth = {seated = {}, left = {}}
    end
    clean_up(game, truth)
    listed[#listed + 1] = game
    local is_own, has_free_seat = look(game, truth)
    if not next(game.seats) and (truth.is_refused or not has_free_seat) then
      needless = needless or #listed
    end
    if not truth.is_refused then
      if is_own then
        own = own or game
      elseif has_free_seat and is_open then
        open = open or game
      elseif has_free_seat and next(game.seats) then
        expected = expected or game
      elseif has_free_seat then
        abandoned = abandoned or game
      end
    end
  end
end

local game = own or open or expected or abandoned
if not game then
  game = {id = ARGV[2], seats = {}}
  listed[#listed + 1] = game
  if #listed > tonumber(ARGV[7]) then
    if not needless then
      return false
    end
    table.remove(listed, needless)
  end
end
game.at = now
game.seats[player] = now
redis.call('SET', KEYS[1], cjson.encode(listed), 'PX', ARGV[8])
return game.id
