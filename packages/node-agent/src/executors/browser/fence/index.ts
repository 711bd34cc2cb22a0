export { openSubmitFence, type SubmitFenceOptions } from './open-submit-fence.ts';
export type {
  PageRequest,
  SubmissionMatcher,
  SubmissionSent,
  SubmitFence,
} from './submit-fence.ts';
