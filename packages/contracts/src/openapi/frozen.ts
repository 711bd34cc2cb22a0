/** The copy of the v1 document that changes are compared with. */
export const frozenDocumentUrl = new URL('../../openapi/v1.json', import.meta.url);
