export * from './request-signature.ts';
export * from './sealing.ts';
export * from './secrets.ts';
export * from './webhook-signature.ts';
