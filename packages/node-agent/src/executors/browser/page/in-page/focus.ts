/// <reference lib="dom" />

/**
 * Takes the focus from the element that has it, in open shadow roots and frames of the same origin,
 * too. Refers to nothing outside of itself.
 */
export function leaveField(): void {
  let at: Element | null = document.activeElement;
  for (let inner = at; inner !== null;) {
    at = inner;
    const frame = at instanceof HTMLIFrameElement ? at.contentDocument : null;
    const scope: DocumentOrShadowRoot | null = at.shadowRoot ?? frame;
    inner = scope?.activeElement ?? null;
  }
  // The element may be of another document, which has its own `HTMLElement`.
  if (at !== null && 'blur' in at && typeof at.blur === 'function') at.blur();
}
