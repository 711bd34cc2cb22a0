import { fairnessLibrary } from './fleet-fairness.ts';
import { fleetLibrary } from './fleet-library.ts';

/** The Lua scripts of the fleet registry. Redis runs each call of a script atomically. */

/**
 * Records a heartbeat, and removes some of the expired entries. Returns 1 if the dispatcher was
 * alive before, else 0. ARGV: time, dispatcher, `dispatcherSilentMs`.
 */
export const refreshScript = `${fleetLibrary}
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
redis.call('ZREMRANGEBYSCORE', key('moving'), '-inf', now)
writeTotals()
return known and 1 or 0
`;

/**
 * Adds or updates a link. ARGV: time, node as JSON (`epoch` 0: a new link), submissions that take a
 * slot. Returns the `epoch` of the link, or -1 if the node has a newer link.
 */
export const joinScript = `${fleetLibrary}
local node = cjson.decode(ARGV[2])
local present = load(node.nodeId)
if present and present.linkId ~= node.linkId then
  -- The link with the higher linkEpoch is newer. Dispatchers of older versions write no linkEpoch.
  if present.linkEpoch and node.linkEpoch and present.linkEpoch ~= node.linkEpoch then
    if present.linkEpoch > node.linkEpoch then return -1 end
  elseif node.epoch > 0 and present.epoch > node.epoch then
    return -1
  end
end
if node.epoch == 0 then
  node.epoch = math.max(now, present and present.epoch + 1 or 0)
  redis.call('ZREM', key('silent'), node.nodeId)
  redis.call('ZREM', key('moving'), node.nodeId)
end
if present then
  uncount(present)
  redis.call('SREM', key('links:' .. present.dispatcherId), node.nodeId)
end
redis.call('HSET', key('nodes'), node.nodeId, cjson.encode(node))
redis.call('SADD', key('links:' .. node.dispatcherId), node.nodeId)
local held = {}
for i = 3, #ARGV do held[ARGV[i]] = true end
-- Reservations stay until they expire. They may belong to offers on their way to this link, which
-- its dispatcher does not know yet. The offers of a broken link have ended.
local tokens = redis.call('HGETALL', key('tokens:' .. node.nodeId))
for i = 1, #tokens, 2 do
  if tokens[i + 1] == '0' and not held[tokens[i]] then free(node.nodeId, tokens[i]) end
end
for submissionId in pairs(held) do take(node.nodeId, submissionId, 0) end
count(node)
writeTotals()
return node.epoch
`;

/**
 * Removes a link. Does nothing if the registry has another link of the node. ARGV: time, node,
 * link, `movesWithinMs` (0: the node is not expected at another dispatcher).
 */
export const leaveScript = `${fleetLibrary}
local node = load(ARGV[2])
local movingMs = tonumber(ARGV[4])
if node and node.linkId == ARGV[3] then
  drop(node)
  if movingMs > 0 and not node.draining then redis.call('ZADD', key('moving'), now + movingMs, node.nodeId) end
end
writeTotals()
return 0
`;

/** Returns how many other dispatchers are alive. ARGV: time, dispatcher, `dispatcherSilentMs`. */
export const othersScript = `${fleetLibrary}
local aliveSince = now - tonumber(ARGV[3])
local heard = redis.call('ZSCORE', key('dispatchers'), ARGV[2])
local isCounted = heard and tonumber(heard) >= aliveSince
return redis.call('ZCOUNT', key('dispatchers'), aliveSince, '+inf') - (isCounted and 1 or 0)
`;

/**
 * ARGV: time, `dispatcherSilentMs`, `fleetRebuildingMs`, JSON list of steps. A step is a list: its
 * kind, then the arguments of `steps.<kind>`. Returns one answer per step.
 */
export const stepsScript = `${fleetLibrary}${fairnessLibrary}
local aliveSince = now - tonumber(ARGV[2])
local born = redis.call('GET', key('born'))
local rebuilding = born and now - born < tonumber(ARGV[3])
  or redis.call('ZCOUNT', key('moving'), '(' .. now, '+inf') > 0

-- What the script knows of a node that it may choose: its free slots, and whether it is silent. The
-- script reads the rest of a node only when it chooses it.
local entries = {}
local function entryOf(nodeId, score)
  local entry = entries[nodeId] or { nodeId = nodeId }
  entry.free = freeOf(score)
  entry.isSilent = tonumber(score) < 1
  entries[nodeId] = entry
  return entry
end

-- Nodes whose slots have changed. They are counted once, before the next read of their entries. The
-- value is the number of slots taken, or true if anything else has changed too.
local changed = {}
local function countChanged()
  for nodeId, taken in pairs(changed) do
    local node = load(nodeId)
    if node and taken == true then
      count(node)
    elseif node then
      for i, jobType in ipairs(node.jobTypes) do
        redis.call('ZADD', key('free:' .. jobType), placeOf(entries[nodeId]), nodeId)
        addToTotals(jobType, 0 - taken, 0)
        if i == 1 then addToTotals('*', 0 - taken, 0) end
      end
    end
  end
  changed = {}
  writeTotals()
end

-- By job type: the nodes with the most free slots, and the sums. The script reads them once, and
-- updates them with its own reservations. Any other change discards them.
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
  view = { limit = limit, slots = tonumber(totals[1] or 0), free = tonumber(totals[2] or 0),
    nodes = {}, own = {} }
  for i = 1, #page, 2 do view.nodes[#view.nodes + 1] = entryOf(page[i], page[i + 1]) end
  -- Nodes outside the page have at most the score of its last node. A page that is not full has all.
  view.least = #view.nodes < limit and 0 or tonumber(page[#page])
  views[jobType] = view
  return view
end

-- Some nodes of a dispatcher. In a large fleet the page may have none that is free enough.
local function ownOf(view, jobType, dispatcherId)
  if not view.own[dispatcherId] then
    local own = {}
    local nodeIds = redis.call('SRANDMEMBER', key('links:' .. dispatcherId), 24)
    local scores = #nodeIds > 0 and redis.call('ZMSCORE', key('free:' .. jobType), unpack(nodeIds)) or {}
    for i, nodeId in ipairs(nodeIds) do
      -- The script has not written its own reservations yet, so an entry is newer than the score.
      if scores[i] then own[#own + 1] = entries[nodeId] or entryOf(nodeId, scores[i]) end
    end
    view.own[dispatcherId] = own
  end
  return view.own[dispatcherId]
end

-- Among equals the greater id wins, as in a page. So the result does not depend on the order.
local function bestOf(nodes, asked)
  local best
  for _, node in ipairs(nodes) do
    if not asked[node.nodeId] and node.free > 0 then
      local lead = best and placeOf(node) - placeOf(best) or 1
      if lead > 0 or lead == 0 and node.nodeId > best.nodeId then best = node end
    end
  end
  return best
end

local function reserveOn(node, submissionId, ttlMs)
  if not take(node.nodeId, submissionId, ttlMs) then return end
  local before = changed[node.nodeId]
  changed[node.nodeId] = before == true or (before or 0) + 1
  local entry = entries[node.nodeId]
  entry.free = entry.free - 1
  for _, jobType in ipairs(node.jobTypes) do
    if views[jobType] then views[jobType].free = views[jobType].free - 1 end
  end
end

local isExpiredFreed = false
function steps.reserve(dispatcherId, jobType, hundredths, submissionId, ttlMs, tenantId, ...)
  if not born or not heard(dispatcherId) then return {'lost'} end
  if not isExpiredFreed then freeExpired() end
  isExpiredFreed = true
  local asked = {}
  for _, nodeId in ipairs({...}) do asked[nodeId] = true end
  local mayAsk = rebuilding or tenantId == ''
  while true do
    local view = viewOf(jobType, select('#', ...))
    local kept = math.floor(view.slots * hundredths / 100)
    if not mayAsk and not mayTake(jobType .. ':' .. hundredths, tenantId, view.slots - kept, view.free - kept) then
      return {'no_headroom'}
    end
    mayAsk = true
    if view.free <= kept then return {rebuilding and 'rebuilding' or 'no_headroom'} end
    local freest = bestOf(view.nodes, asked)
    if freest and placeOf(freest) < view.least or not freest and view.least > 0 then
      -- A node outside the page may have more free slots than the best node inside.
      views[jobType] = nil
    elseif not freest then
      return {rebuilding and 'rebuilding' or 'none_left'}
    else
      local own = bestOf(ownOf(view, jobType, dispatcherId), asked)
      local isNear = own and placeOf(own) * 32 >= placeOf(freest) * 31
      local node = load((isNear and own or freest).nodeId)
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
writeContentions()
return answers
`;
