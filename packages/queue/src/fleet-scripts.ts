/**
 * The Lua of the fleet registry. Every script is one atomic step over these keys, all behind one
 * hash tag (`KEYS[1]` is their common beginning, so that they lie in one slot of a cluster):
 *
 * - `nodes`             hash: node → its link as JSON
 * - `tokens:<node>`     hash: submission → when its slot is free again (Redis ms), 0: when released
 * - `expiring`          sorted set: "<node> <submission>" of tokens with an end, by that end
 * - `free:<job type>`   sorted set: nodes that are not draining, by free slots; silent ones by a
 *                       1024th of them, which ranks them behind all others and loses nothing
 * - `silent`            sorted set: nodes that left an offer unanswered, by when that is forgotten
 * - `totals`            hash: "<job type>:slots" and "<job type>:free", the sums over that set; the
 *                       job type "*" is any, each node counted once
 * - `dispatchers`       sorted set: dispatcher → when it was last heard (Redis ms)
 * - `links:<dispatcher>` set: the nodes whose link it holds
 * - `born`              when this registry began: at the start, or when Redis had lost it
 *
 * A node's free slots are its slots less its tokens, so that taking and freeing a slot can be
 * repeated and comes to the same in any order. `ARGV[1]` is the time in ms, empty for Redis's own.
 */
const library = `
local function key(name) return KEYS[1] .. ':' .. name end

local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

-- A node is read once a script.
local loaded = {}
local function load(nodeId)
  if loaded[nodeId] == nil then
    local text = redis.call('HGET', key('nodes'), nodeId)
    loaded[nodeId] = text and cjson.decode(text)
  end
  return loaded[nodeId]
end

local function freeSlots(node)
  return math.max(0, node.slots - redis.call('HLEN', key('tokens:' .. node.nodeId)))
end

local function scoreOf(node, free)
  return redis.call('ZSCORE', key('silent'), node.nodeId) and free / 1024 or free
end

-- The same of a node whose free slots a script has at hand.
local function placeOf(node) return node.isSilent and node.free / 1024 or node.free end

local function freeOf(score)
  local free = tonumber(score)
  return free < 1 and free * 1024 or free
end

-- What a script adds to the sums is written once, before they are read and at its end.
local added = {}
local function addToTotals(jobType, free, slots)
  added[jobType .. ':free'] = (added[jobType .. ':free'] or 0) + free
  added[jobType .. ':slots'] = (added[jobType .. ':slots'] or 0) + slots
end

local function writeTotals()
  for field, more in pairs(added) do
    if more ~= 0 then redis.call('HINCRBY', key('totals'), field, more) end
  end
  added = {}
end

-- Brings a node's place among the free ones, and the sums, up to date.
local function count(node)
  if node.draining then return end
  local free = freeSlots(node)
  for i, jobType in ipairs(node.jobTypes) do
    local before = redis.call('ZSCORE', key('free:' .. jobType), node.nodeId)
    redis.call('ZADD', key('free:' .. jobType), scoreOf(node, free), node.nodeId)
    local more = free - (before and freeOf(before) or 0)
    local slots = before and 0 or node.slots
    addToTotals(jobType, more, slots)
    if i == 1 then addToTotals('*', more, slots) end
  end
end

local function uncount(node)
  for i, jobType in ipairs(node.jobTypes) do
    local before = redis.call('ZSCORE', key('free:' .. jobType), node.nodeId)
    if before then
      redis.call('ZREM', key('free:' .. jobType), node.nodeId)
      addToTotals(jobType, 0 - freeOf(before), 0 - node.slots)
      if i == 1 then addToTotals('*', 0 - freeOf(before), 0 - node.slots) end
    end
  end
end

local function drop(node)
  uncount(node)
  loaded[node.nodeId] = false
  redis.call('HDEL', key('nodes'), node.nodeId)
  redis.call('SREM', key('links:' .. node.dispatcherId), node.nodeId)
  redis.call('DEL', key('tokens:' .. node.nodeId))
end

-- ttlMs 0: until it is released.
-- Whether a slot was taken that was free before.
local function take(nodeId, submissionId, ttlMs)
  local member = nodeId .. ' ' .. submissionId
  local untilMs = ttlMs > 0 and now + ttlMs or 0
  local added = redis.call('HSET', key('tokens:' .. nodeId), submissionId, untilMs)
  if ttlMs > 0 then
    redis.call('ZADD', key('expiring'), untilMs, member)
  else
    redis.call('ZREM', key('expiring'), member)
  end
  return added == 1
end

local function free(nodeId, submissionId)
  redis.call('HDEL', key('tokens:' .. nodeId), submissionId)
  redis.call('ZREM', key('expiring'), nodeId .. ' ' .. submissionId)
end

local function freeExpired()
  for _, member in ipairs(redis.call('ZRANGEBYSCORE', key('expiring'), '-inf', now, 'LIMIT', 0, 100)) do
    local nodeId, submissionId = string.match(member, '^(%S+) (%S+)$')
    free(nodeId, submissionId)
    local node = load(nodeId)
    if node then count(node) end
  end
  for _, nodeId in ipairs(redis.call('ZRANGEBYSCORE', key('silent'), '-inf', now, 'LIMIT', 0, 100)) do
    redis.call('ZREM', key('silent'), nodeId)
    local node = load(nodeId)
    if node then count(node) end
  end
end
`;

/**
 * ARGV: time, dispatcher, dead after ms. Answers 1 where the registry still has the dispatcher's
 * nodes: it was heard before, and not so long ago that they were dropped as a dead one's.
 */
export const refreshScript = `${library}
local deadBefore = now - tonumber(ARGV[3])
local heard = redis.call('ZSCORE', key('dispatchers'), ARGV[2])
local known = heard and tonumber(heard) >= deadBefore
redis.call('ZADD', key('dispatchers'), now, ARGV[2])
redis.call('SET', key('born'), now, 'NX')
freeExpired()
for _, dead in ipairs(redis.call('ZRANGEBYSCORE', key('dispatchers'), '-inf', '(' .. deadBefore)) do
  for _, nodeId in ipairs(redis.call('SRANDMEMBER', key('links:' .. dead), 200)) do
    local node = load(nodeId)
    if node and node.dispatcherId == dead then drop(node) end
    redis.call('SREM', key('links:' .. dead), nodeId)
  end
  if redis.call('SCARD', key('links:' .. dead)) == 0 then
    redis.call('ZREM', key('dispatchers'), dead)
  end
end
writeTotals()
return known and 1 or 0
`;

/**
 * ARGV: time, node as JSON (epoch 0: a new link), then submissions that hold a slot. Answers the
 * link's epoch, or -1 where the registry has a newer link of the node. The number in Postgres says
 * which is newer; an entry without one was made by a dispatcher of an older version.
 */
export const joinScript = `${library}
local node = cjson.decode(ARGV[2])
local present = load(node.nodeId)
if present and present.linkId ~= node.linkId then
  if present.linkEpoch and node.linkEpoch and present.linkEpoch ~= node.linkEpoch then
    if present.linkEpoch > node.linkEpoch then return -1 end
  elseif node.epoch > 0 and present.epoch > node.epoch then
    return -1
  end
end
if node.epoch == 0 then
  node.epoch = math.max(now, present and present.epoch + 1 or 0)
  redis.call('ZREM', key('silent'), node.nodeId)
end
if present then
  uncount(present)
  redis.call('SREM', key('links:' .. present.dispatcherId), node.nodeId)
end
redis.call('HSET', key('nodes'), node.nodeId, cjson.encode(node))
redis.call('SADD', key('links:' .. node.dispatcherId), node.nodeId)
local held = {}
for i = 3, #ARGV do held[ARGV[i]] = true end
-- Reservations are left to run out: the offers of a broken link are void, those on their way to
-- this link are not known to its dispatcher yet.
local tokens = redis.call('HGETALL', key('tokens:' .. node.nodeId))
for i = 1, #tokens, 2 do
  if tokens[i + 1] == '0' and not held[tokens[i]] then free(node.nodeId, tokens[i]) end
end
for submissionId in pairs(held) do take(node.nodeId, submissionId, 0) end
count(node)
writeTotals()
return node.epoch
`;

/** ARGV: time, node, link. Does nothing where the registry has another link of the node. */
export const leaveScript = `${library}
local node = load(ARGV[2])
if node and node.linkId == ARGV[3] then drop(node) end
writeTotals()
return 0
`;

/**
 * ARGV: time, dead after ms, rebuilding for ms, then a JSON list of steps, each a list that begins
 * with its kind; answers one answer a step. What frees or keeps a slot comes before what asks for
 * one:
 *
 * - `release`, node, submission, for how many ms the node counts as silent (0: it does not)
 * - `confirm`, node, submission: the reserved slot is taken until it is released
 * - `reserve`, dispatcher, job type, hundredths of the slots that the tier leaves free, submission,
 *   ttl ms of the reservation, then nodes not to ask
 */
export const stepsScript = `${library}
local aliveSince = now - tonumber(ARGV[2])
local born = redis.call('GET', key('born'))
local rebuilding = born and now - born < tonumber(ARGV[3])

-- Nodes whose slots have changed are counted once, before anybody reads their places again: how many
-- slots were taken where that is all that has changed, else true.
local changed = {}
local function countChanged()
  for nodeId, taken in pairs(changed) do
    local node = load(nodeId)
    if node and taken == true then
      count(node)
    elseif node then
      for i, jobType in ipairs(node.jobTypes) do
        redis.call('ZADD', key('free:' .. jobType), placeOf(node), nodeId)
        addToTotals(jobType, 0 - taken, 0)
        if i == 1 then addToTotals('*', 0 - taken, 0) end
      end
    end
  end
  changed = {}
  writeTotals()
end

-- Of a job type: the nodes with the most free slots, and the sums. They are read once, and kept up
-- to date with the reservations of this script; whatever else changes forgets them.
local views = {}
local function countAnew(nodeId)
  changed[nodeId] = true
  views = {}
end

local heardAt = {}
local function heard(dispatcherId)
  if heardAt[dispatcherId] == nil then
    local at = redis.call('ZSCORE', key('dispatchers'), dispatcherId)
    heardAt[dispatcherId] = at and tonumber(at)
  end
  return heardAt[dispatcherId]
end

local steps = {}

function steps.release(nodeId, submissionId, silentMs)
  free(nodeId, submissionId)
  if silentMs > 0 then redis.call('ZADD', key('silent'), now + silentMs, nodeId) end
  countAnew(nodeId)
  return 0
end

function steps.confirm(nodeId, submissionId)
  if load(nodeId) then
    local isTaken = take(nodeId, submissionId, 0)
    local wasSilent = redis.call('ZREM', key('silent'), nodeId) == 1
    if isTaken or wasSilent then countAnew(nodeId) end
  end
  return 0
end

local function viewOf(jobType, nodesMin)
  local view = views[jobType]
  if view and view.limit >= nodesMin then return view end
  countChanged()
  local totals = redis.call('HMGET', key('totals'), jobType .. ':slots', jobType .. ':free')
  local limit = nodesMin + 24
  local page = redis.call('ZREVRANGEBYSCORE', key('free:' .. jobType), '+inf', '(0',
    'WITHSCORES', 'LIMIT', 0, limit)
  view = { limit = limit, slots = tonumber(totals[1] or 0), free = tonumber(totals[2] or 0), nodes = {} }
  for i = 1, #page, 2 do
    local node = load(page[i])
    local score = tonumber(page[i + 1])
    node.free = freeOf(score)
    node.isSilent = score < 1
    view.nodes[#view.nodes + 1] = node
    view.least = score
  end
  -- Whoever is not on the page has no more than its last: none where the page is all there is.
  if #view.nodes < limit then view.least = 0 end
  views[jobType] = view
  return view
end

local function bestOf(view, asked)
  local best
  for _, node in ipairs(view.nodes) do
    if not asked[node.nodeId] and node.free > 0 and (not best or placeOf(node) > placeOf(best)) then
      best = node
    end
  end
  return best
end

local function reserveOn(node, submissionId, ttlMs)
  if not take(node.nodeId, submissionId, ttlMs) then return end
  local before = changed[node.nodeId]
  changed[node.nodeId] = before == true or (before or 0) + 1
  node.free = node.free - 1
  for _, jobType in ipairs(node.jobTypes) do
    if views[jobType] then views[jobType].free = views[jobType].free - 1 end
  end
end

local isExpiredFreed = false
function steps.reserve(dispatcherId, jobType, hundredths, submissionId, ttlMs, ...)
  if not born or not heard(dispatcherId) then return {'lost'} end
  if not isExpiredFreed then freeExpired() end
  isExpiredFreed = true
  local asked = {}
  for _, nodeId in ipairs({...}) do asked[nodeId] = true end
  while true do
    local view = viewOf(jobType, select('#', ...))
    local kept = math.floor(view.slots * hundredths / 100)
    if view.free <= kept then return {rebuilding and 'rebuilding' or 'no_headroom'} end
    local node = bestOf(view, asked)
    if node and placeOf(node) < view.least or not node and view.least > 0 then
      -- Somebody who is not on the page may have more by now.
      views[jobType] = nil
    elseif not node then
      return {rebuilding and 'rebuilding' or 'none_left'}
    else
      local at = heard(node.dispatcherId)
      if at and at >= aliveSince then
        reserveOn(node, submissionId, ttlMs)
        return {'reserved', node.nodeId, node.dispatcherId, node.linkId}
      end
      countChanged()
      drop(node)
      views = {}
    end
  end
end

local answers = {}
for i, step in ipairs(cjson.decode(ARGV[4])) do answers[i] = steps[step[1]](unpack(step, 2)) end
countChanged()
return answers
`;
