/** The copy of the v1 document with which changes are compared. */
export const frozenDocumentUrl = new URL('../../openapi/v1.json', import.meta.url);
