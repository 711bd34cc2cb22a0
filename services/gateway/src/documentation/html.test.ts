import { expect, test } from 'vitest';
import { html } from './html.ts';

test('values are text, whatever they hold: no tags, no control characters, no turned text', () => {
  const { source } = html`<p>${'<b>"\u202Ea\u2066\u0000\u001B\u0085\u200Fb\'&'}</p>`;
  expect(source).toBe('<p>&lt;b&gt;&quot;\uFFFDa\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDb&#39;&amp;</p>');
});

test('lines and tabs of what is to be pasted stay', () => {
  expect(html`${'a\n\tb é 申請 🙂'}`.source).toBe('a\n\tb é 申請 🙂');
});
