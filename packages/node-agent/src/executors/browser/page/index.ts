export { emptyPage, type PageFacts, readChallenge, readPage } from './facts.ts';
export { fillForm, type FillResult } from './fill-form.ts';
export { findForm, type FindFailure } from './find-form.ts';
export { type InFlight, trackRequests } from './in-flight.ts';
export { confirmationIdIn, isEmpty, judge, type Proof } from './proof.ts';
export { type FormTarget, isGone, readForm, type ReadForm, waitForQuiet } from './read-form.ts';
export { controlsOf, pressNext } from './steps.ts';
export { type FileBytes, holds } from './widgets.ts';
