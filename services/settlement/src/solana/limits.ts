/**
 * The limits of the watcher (CONTRACT 8). The process's clock measures intervals. The database's
 * clock decides when the lease or an intent expires (decision 6).
 */

/** The interval at which the watcher looks in Postgres for work. */
export const tickMs = 500;
/**
 * The interval at which a token account is polled while one of its intents is open. CONTRACT 8
 * allows at most 2 s.
 */
export const pollMs = 1_000;
/** The usual interval of calls to the RPC server while no intent is open. */
export const idleCallMs = 60_000;
/** The lease ends this long after it is taken or renewed. Another process may then take it. */
export const leaseMs = 10_000;
export const leaseRenewMs = 2_000;
export const genesisCheckMs = 600_000;
export const backoffMsMin = 1_000;
export const backoffMsMax = 5_000;
/**
 * The most signatures on the first page when the signatures of a token account are listed. Further
 * pages have at most `signaturesPerPageMax`.
 */
export const firstPageMax = 100;
/**
 * The most pages that `listAccount` reads while an intent is open: about a million signatures.
 * While no intent is open, it reads one page.
 */
export const pagesMax = 1_000;
/**
 * `listAccount` also returns signatures from up to this many Solana slots before the cursor,
 * because the RPC server may list a signature late. These slots last about two minutes.
 */
export const overlapSlots = 300;
/**
 * The cursor may be at most this many slots ahead of the chain's newest slot, because the servers
 * behind one address differ. Less than `overlapSlots`, so that no payment is left out.
 */
export const slotsAheadMax = 150;
/**
 * The most signatures of a list that wait in memory to be read. A longer list is cut to its oldest
 * signatures.
 */
export const backlogMax = 20_000;
/**
 * The most signatures per token account that a process remembers. A remembered signature is not
 * read again if a later list contains it.
 */
export const rememberedMax = 20_000;
export const readsPerTickMax = 40;
export const retriesPerTickMax = 2;
export const questionsPerTickMax = 4;
/**
 * The most pages that `askForReference` reads for one reference. A payment on a later page is found
 * only by the list of the token account.
 */
export const questionPagesMax = 3;
