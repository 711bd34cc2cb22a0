/** The limits of the watcher (CONTRACT 8). Times by the clock of this process only space its calls. */

/** Between two looks at Postgres for work. */
export const tickMs = 500;
/** Between two polls of a token account that an open intent pins. CONTRACT 8 allows 2 s. */
export const pollMs = 1_000;
/** Between two calls while no intent is open. */
export const idleCallMs = 60_000;
/** Without a renewal for this long, another process may take over. */
export const leaseMs = 10_000;
export const leaseRenewMs = 2_000;
export const genesisCheckMs = 600_000;
export const backoffMsMin = 1_000;
export const backoffMsMax = 5_000;
/** The first page of a list. It also covers the overlap with the cursor. */
export const firstPageMax = 100;
/** A list stops after this many pages: a million signatures. */
export const pagesMax = 1_000;
/** Signatures below the cursor by at most this many slots are read if they are new: two minutes. */
export const overlapSlots = 300;
/** Signatures that wait to be read in memory, the oldest of the backlog. */
export const backlogMax = 20_000;
/** Signatures that this process has read and does not read again in the overlap. */
export const rememberedMax = 20_000;
export const readsPerTickMax = 40;
export const retriesPerTickMax = 2;
export const questionsPerTickMax = 4;
/** Pages of one question. Beyond them the list of the token account has to find the payment. */
export const questionPagesMax = 3;
