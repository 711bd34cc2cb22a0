import { expect, test } from 'vitest';
import { html } from './html.ts';

test('values are escaped: no tags, no control characters, no changes of text direction', () => {
  const { source } = html`<p>${'<b>"\u202Ea\u2066\u0000\u001B\u0085\u200Fb\'&'}</p>`;
  expect(source).toBe('<p>&lt;b&gt;&quot;\uFFFDa\uFFFD\uFFFD\uFFFD\uFFFD\uFFFDb&#39;&amp;</p>');
});

test('newlines and tabs are kept', () => {
  expect(html`${'a\n\tb é 申請 🙂'}`.source).toBe('a\n\tb é 申請 🙂');
});
