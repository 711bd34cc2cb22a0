/** Whom the audit log names for what a test has provisioned past the commands. */
export const testAuthor = { actor: { kind: 'local', name: 'test' }, requestId: null } as const;
