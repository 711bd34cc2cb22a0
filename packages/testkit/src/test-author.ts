/** The author in the audit log for changes that a test makes without `svc`. */
export const testAuthor = { actor: { kind: 'local', name: 'test' }, requestId: null } as const;
