import { redisScript } from './redis-script.ts';

/**
 * All gateways together may exceed the limit of a bucket by the tokens that it gains in this time
 * (CONTRACT 2). At 100 tokens a second, they are 2.
 */
const aheadMs = 20;
/**
 * Only the gateway with the lease of a bucket may give tokens in advance (`TokensAhead`). The lease
 * ends this long after that gateway last asked Redis for a token.
 */
export const aheadLeaseMs = 10_000;

/**
 * `takeToken` of `@svc/domain` in Lua. KEYS[1]: prefix of all buckets. ARGV: gateway, then per
 * call: bucket, tokens per second, burst, 1 if given in advance, tokens to take.
 */
export const takeTokensScript = redisScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + time[2] / 1000
local answers = {}
for index = 2, #ARGV, 5 do
  local key = KEYS[1] .. ARGV[index]
  local perSecond = tonumber(ARGV[index + 1])
  local burst = tonumber(ARGV[index + 2])
  local cost = tonumber(ARGV[index + 4])
  local tokens = burst
  local kept = redis.call('HMGET', key, 'tokens', 'at', 'ahead', 'aheadUntil')
  if kept[1] then
    local elapsed = math.max(now - tonumber(kept[2]), 0)
    tokens = math.min(tonumber(kept[1]) + elapsed * perSecond / 1000, burst)
  end
  local allowed = 0
  if tokens >= cost or ARGV[index + 3] == '1' then
    tokens = tokens - cost
    allowed = 1
  end
  local ahead = math.floor(perSecond * ${aheadMs} / 1000)
  if kept[3] ~= ARGV[1] and tonumber(kept[4] or 0) >= now then ahead = 0 end
  local bucket = {'tokens', string.format('%.6f', tokens), 'at', string.format('%.3f', now)}
  local keptMs = (burst - tokens) * 1000 / perSecond
  if ahead > 0 then
    bucket = {'ahead', ARGV[1], 'aheadUntil', string.format('%.3f', now + ${aheadLeaseMs}), unpack(bucket)}
    keptMs = math.max(keptMs, ${aheadLeaseMs})
  elseif kept[3] then
    keptMs = math.max(keptMs, tonumber(kept[4]) - now)
  end
  redis.call('HSET', key, unpack(bucket))
  redis.call('PEXPIRE', key, math.ceil(keptMs) + 1000)
  answers[#answers + 1] = allowed
  answers[#answers + 1] = string.format('%.6f', tokens)
  answers[#answers + 1] = ahead
end
return answers
`);

/**
 * Puts one token back into a bucket. Does nothing if the bucket has no key in Redis, because such a
 * bucket is full. KEYS[1]: the prefix of all buckets. ARGV: bucket, burst.
 */
export const giveBackScript = redisScript(`
local key = KEYS[1] .. ARGV[1]
local tokens = redis.call('HGET', key, 'tokens')
if tokens then
  local more = math.min(tonumber(tokens) + 1, tonumber(ARGV[2]))
  redis.call('HSET', key, 'tokens', string.format('%.6f', more))
end
return 1
`);
