/**
 * The beginning of every script of the fleet registry. `KEYS[1]`: the common prefix of all keys.
 * `ARGV[1]`: the time in ms, or empty for the clock of Redis.
 */

/*
 * Keys of links:
 *
 * - `nodes`, hash: node → its link as JSON
 * - `links:<dispatcher>`, set: the nodes with a link to this dispatcher
 */
/*
 * Other keys of nodes:
 *
 * - `silent`, sorted set: silent nodes by the end of their silence
 * - `moving`, sorted set: nodes that change dispatcher, by their arrival deadline
 */

/*
 * Keys of taken slots:
 *
 * - `tokens:<node>`, hash: submission → end of its reservation, 0 if confirmed
 * - `expiring`, sorted set: "<node> <submission>", by the end of the reservation
 */

/*
 * Keys of free slots:
 *
 * - `free:<job type>`, sorted set: nodes that are not draining, by free slots. A silent node comes
 *   last, because its score is divided by 1024.
 */

/*
 * Key of the sums of slots:
 *
 * - `totals`, hash: "<job type>:slots" and "<job type>:free". Under the job type `*`, each node
 *   counts once. Draining nodes do not count.
 */

/*
 * Keys of the fleet:
 *
 * - `dispatchers`, sorted set: dispatcher → its last heartbeat
 * - `born`: when the registry was created
 */
export const fleetLibrary = `
local function key(name) return KEYS[1] .. ':' .. name end

local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Each script reads a node at most once.
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

-- The same score for a node whose free slots the script already has.
local function placeOf(node) return node.isSilent and node.free / 1024 or node.free end

local function freeOf(score)
  local free = tonumber(score)
  return free < 1 and free * 1024 or free
end

-- A script collects its changes of the sums. It writes them before it reads the sums, and at its end.
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

-- Updates a node's entry in the sets of free nodes, and the sums.
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

-- Takes a slot; ttlMs 0 means until it is released. Returns true if the slot was free before.
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
