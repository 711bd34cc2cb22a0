export * from './redis.ts';
export * from './environment-mark.ts';
export * from './job-schemas.ts';
export * from './presence.ts';
export * from './log-levels.ts';
export * from './producer.ts';
export * from './consumer.ts';
export { takeWakeUpTenants } from './delivery-wake-ups.ts';
export * from './reply-channel.ts';
export * from './fleet-registry.ts';
export * from './dispatcher-bus.ts';
export * from './queue-status.ts';
export {
  type ClusterHealth,
  clusterSlotCount,
  readClusterHealth,
  readRedisHealth,
  type RedisHealth,
} from './redis-health.ts';
export { createRateLimiter, type RateLimiter } from './rate-limit.ts';
export * from './surge.ts';
