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

local function freeOf(score)
  local free = tonumber(score)
  return free < 1 and free * 1024 or free
end

local function addToTotals(jobType, free, slots)
  redis.call('HINCRBY', key('totals'), jobType .. ':free', free)
  if slots ~= 0 then redis.call('HINCRBY', key('totals'), jobType .. ':slots', slots) end
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
local function take(nodeId, submissionId, ttlMs)
  local member = nodeId .. ' ' .. submissionId
  if ttlMs > 0 then
    redis.call('HSET', key('tokens:' .. nodeId), submissionId, now + ttlMs)
    redis.call('ZADD', key('expiring'), now + ttlMs, member)
  else
    redis.call('HSET', key('tokens:' .. nodeId), submissionId, 0)
    redis.call('ZREM', key('expiring'), member)
  end
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
return known and 1 or 0
`;

/**
 * ARGV: time, node as JSON (epoch 0: a new link), then submissions that hold a slot. Answers the
 * link's epoch, or -1 where the registry has a newer link of the node.
 */
export const joinScript = `${library}
local node = cjson.decode(ARGV[2])
local present = load(node.nodeId)
if present and present.linkId ~= node.linkId and node.epoch > 0 and present.epoch > node.epoch then
  return -1
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
return node.epoch
`;

/** ARGV: time, node, link. Does nothing where the registry has another link of the node. */
export const leaveScript = `${library}
local node = load(ARGV[2])
if node and node.linkId == ARGV[3] then drop(node) end
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

-- Nodes whose slots have changed are counted once, before somebody looks for a free one.
local changed = {}
local function countChanged()
  for nodeId in pairs(changed) do
    local node = load(nodeId)
    if node then count(node) end
  end
  changed = {}
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
  changed[nodeId] = true
  return 0
end

function steps.confirm(nodeId, submissionId)
  if load(nodeId) then
    take(nodeId, submissionId, 0)
    redis.call('ZREM', key('silent'), nodeId)
    changed[nodeId] = true
  end
  return 0
end

local isExpiredFreed = false
function steps.reserve(dispatcherId, jobType, hundredths, submissionId, ttlMs, ...)
  countChanged()
  if not born or not heard(dispatcherId) then return {'lost'} end
  if not isExpiredFreed then freeExpired() end
  isExpiredFreed = true
  local asked = {}
  for _, nodeId in ipairs({...}) do asked[nodeId] = true end
  while true do
    local totals = redis.call('HMGET', key('totals'), jobType .. ':slots', jobType .. ':free')
    local kept = math.floor(tonumber(totals[1] or 0) * hundredths / 100)
    if tonumber(totals[2] or 0) <= kept then return {rebuilding and 'rebuilding' or 'no_headroom'} end
    local dropped = false
    -- Beyond the nodes already asked there are some that are not, so one page always suffices.
    local page = redis.call(
      'ZREVRANGEBYSCORE', key('free:' .. jobType), '+inf', '(0', 'LIMIT', 0, select('#', ...) + 8)
    for _, nodeId in ipairs(page) do
      if not asked[nodeId] then
        local node = load(nodeId)
        local at = heard(node.dispatcherId)
        if at and at >= aliveSince then
          take(nodeId, submissionId, ttlMs)
          count(node)
          return {'reserved', nodeId, node.dispatcherId, node.linkId}
        end
        drop(node)
        dropped = true
      end
    end
    if not dropped then return {rebuilding and 'rebuilding' or 'none_left'} end
  end
end

local answers = {}
for i, step in ipairs(cjson.decode(ARGV[4])) do answers[i] = steps[step[1]](unpack(step, 2)) end
countChanged()
return answers
`;
