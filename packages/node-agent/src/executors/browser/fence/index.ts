export { openSubmitFence } from './open-submit-fence.ts';
export type { SubmissionSent, SubmitFence } from './submit-fence.ts';
