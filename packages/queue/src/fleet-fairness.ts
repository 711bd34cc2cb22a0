import {
  askingGaps,
  askingMsMax,
  askingMsMin,
  backlogMemoryMs,
  contendersMax,
  contentionMs,
  gapShrink,
  grantsKeptMin,
  guaranteedPart,
  shareMemoryMs,
  shareTurnMs,
  slotsPerSpare,
  yieldMs,
} from '@svc/domain';

/**
 * `askForSlot` of `@svc/domain` in Lua (decision 40). Redis stores each `Contention` as JSON under
 * the key `contention:<job type>:<headroom of the tier in %>`.
 */
export const fairnessLibrary = `
local contentions = {}

local function contentionOf(name)
  if contentions[name] == nil then
    local text = redis.call('GET', key('contention:' .. name))
    local kept = text and cjson.decode(text)
    if kept and now - kept.refusedAtMs >= ${contentionMs} then kept = false end
    contentions[name] = kept
  end
  return contentions[name]
end

local function writeContentions()
  for name, contention in pairs(contentions) do
    if contention and contention.isChanged then
      contention.isChanged = nil
      local keptMs = math.ceil(contention.refusedAtMs + ${contentionMs} - now)
      redis.call('SET', key('contention:' .. name), cjson.encode(contention), 'PX', math.max(1, keptMs))
    end
  end
end

local function isAsking(tenant)
  local forMs = math.min(math.max(${askingGaps} * tenant.gapMs, ${askingMsMin}), ${askingMsMax})
  return now - tenant.askedAtMs < forMs
end

local function waterLevel(demands, capacity)
  table.sort(demands)
  local left, sharing = capacity, #demands
  for _, demand in ipairs(demands) do
    if demand * sharing >= left then return left / sharing end
    left = left - demand
    sharing = sharing - 1
  end
  return capacity
end

local function takeTurn(contention)
  local elapsedMs = math.max(0, now - contention.turnAtMs)
  local factor = math.exp(0 - elapsedMs / ${shareMemoryMs})
  local kept = {}
  for tenantId, tenant in pairs(contention.tenants) do
    tenant.asks = tenant.asks * factor
    tenant.grants = tenant.grants * factor
    if isAsking(tenant) or tenant.grants >= ${grantsKeptMin} then kept[#kept + 1] = tenantId end
  end
  local tenants = contention.tenants
  table.sort(kept, function(a, b)
    local lead = tenants[a].askedAtMs - tenants[b].askedAtMs
    return lead > 0 or lead == 0 and a < b
  end)
  contention.tenants = {}
  local demands, grants = {}, 0
  for i = 1, math.min(#kept, ${contendersMax}) do
    local tenant = tenants[kept[i]]
    contention.tenants[kept[i]] = tenant
    grants = grants + tenant.grants
    if isAsking(tenant) then demands[#demands + 1] = tenant.asks end
  end
  contention.asking = #demands
  contention.level = waterLevel(demands, grants * ${guaranteedPart})
  contention.below = 0
  for _, tenant in pairs(contention.tenants) do
    if isAsking(tenant) and tenant.grants <= contention.level then contention.below = contention.below + 1 end
  end
  local counted = 1 - math.exp(0 - math.max(${shareTurnMs}, now - contention.beganAtMs) / ${shareMemoryMs})
  contention.rate = grants / ${shareMemoryMs} / counted
  contention.backlogMax = contention.backlogMax * math.exp(0 - elapsedMs / ${backlogMemoryMs})
  contention.turnAtMs = now
end

local function countAsk(contention, tenantId)
  local tenant = contention.tenants[tenantId]
  local hasReturned = not tenant or not isAsking(tenant)
  if not tenant then
    tenant = { asks = 0, grants = 0, askedAtMs = now, gapMs = 0 }
    contention.tenants[tenantId] = tenant
  end
  local sinceMs = math.max(0, now - tenant.askedAtMs)
  tenant.gapMs = sinceMs > ${askingMsMax} and 0 or math.max(sinceMs, tenant.gapMs - sinceMs * ${gapShrink})
  tenant.asks = tenant.asks + 1
  tenant.askedAtMs = now
  if hasReturned or now - contention.turnAtMs >= ${shareTurnMs} then takeTurn(contention) end
  return contention.tenants[tenantId] or tenant
end

local function countBacklog(contention, tenant, usable)
  local drained = contention.backlog - contention.rate * math.max(0, now - contention.backlogAtMs)
  local part = math.min(1, contention.level / tenant.asks)
  contention.backlog = math.min(math.max(0, drained) + part, usable / 2)
  contention.backlogAtMs = now
  contention.backlogMax = math.max(contention.backlog, contention.backlogMax)
end

local function keptFree(contention, usable)
  local spare = math.min(1, usable / ${slotsPerSpare})
  local needed = math.min(math.max(1, math.ceil(contention.backlogMax + spare)), math.floor(usable / 2))
  return now - contention.starvedAtMs < ${yieldMs} and math.max(needed, 1) or needed
end

-- Returns true if the tenant may have one of the free slots.
local function mayTake(name, tenantId, usable, free)
  if usable <= 0 then return false end
  if usable > 1 and free * 2 > usable then return true end
  local contention = contentionOf(name)
  if not contention then
    if free > 0 then return true end
    contention = { beganAtMs = now, refusedAtMs = now, turnAtMs = now, level = 0, rate = 0, asking = 0,
      below = 0, backlog = 0, backlogAtMs = now, backlogMax = 0, starvedAtMs = 0, tenants = {} }
    contentions[name] = contention
  end
  contention.isChanged = true
  local tenant = countAsk(contention, tenantId)
  local isAbove = tenant.grants > contention.level
  local isContended = contention.asking > 1
  if not isAbove and isContended then countBacklog(contention, tenant, usable) end
  if free <= 0 then
    if not isAbove and isContended then contention.starvedAtMs = now end
    contention.refusedAtMs = now
    return false
  end
  if isAbove and contention.below > 0 and free <= keptFree(contention, usable) then
    contention.refusedAtMs = now
    return false
  end
  tenant.grants = tenant.grants + 1
  return true
end
`;
