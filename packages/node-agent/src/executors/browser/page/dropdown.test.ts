import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { fillOf, usePages } from './page.fixture.ts';

const pages = usePages();
const basics = { name: 'Ada Byron', email: 'ada@mail.example', phone: '+353 1 555 0123' };

function formWith(widget: string, script: string): string {
  return `<form onsubmit="event.preventDefault(); window.sent = true"><div><label>Full name <input name="n" required></label></div>
    <div><label>Email <input name="m" type="email" required></label></div>
    <div><label>Note <input name="o"></label></div>${widget}<button>Apply</button></form>
    <script>
    const box = document.getElementById('box');
    const make = (tag, attributes, parent, text = '') => {
      const made = document.createElement(tag);
      for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
      made.textContent = text;
      parent.append(made);
      return made;
    };
    let menu;
    const close = () => { menu?.remove(); menu = undefined; };
    const cities = ['Cork', 'Dublin', 'Dublin North'];
    ${script}</script>`;
}

async function fillCity(page: Page, answer: string | readonly string[] = 'Dublin') {
  return await fillOf(page, { basics, answers: [{ question: 'Town of work', answer }] });
}

/** Widgets in the manner of the libraries that forms use. Each keeps its value in \`window.chosen\`. */
const widgets: Readonly<Record<string, readonly [string, string]>> = {
  'a mask that opens a list in the body at mousedown and chooses at mouseup': [
    `<div><label for="s">Town of work *</label><select id="s" required class="vh" tabindex="-1" aria-hidden="true" style="position:absolute;width:1px;height:1px;clip:rect(0 0 0 0)"><option value=""></option><option>Cork</option><option>Dublin</option><option>Dublin North</option></select>
     <span><span id="box" role="combobox" aria-haspopup="true" tabindex="0" aria-labelledby="shown"><span id="shown" title="Pick">Pick</span></span></span></div>`,
    `box.onmousedown = () => {
      if (menu) return close();
      menu = make('span', {}, document.body);
      make('input', { type: 'search' }, menu);
      const list = make('ul', { role: 'listbox' }, menu);
      for (const one of cities) make('li', { role: 'option' }, list, one).onmouseup = () => {
        window.chosen = shown.textContent = s.value = one; close();
      };
    };`,
  ],
  'a mask without roles whose list is clipped until it is opened': [
    `<div><label for="s">Town of work *</label><select id="s" required style="display:none"><option value=""></option><option>Cork</option><option>Dublin</option><option>Dublin North</option></select>
     <div class="container" style="position:relative"><a id="box" tabindex="-1"><span>Choose one</span><div><b></b></div></a><div id="drop" style="position:absolute;clip-path:inset(100%);clip:rect(0 0 0 0)"><div><input autocomplete="off"></div><ul id="results"></ul></div></div></div>`,
    `for (const one of cities) make('li', { class: 'active-result' }, results, one).addEventListener('mouseup', () => {
      window.chosen = box.firstChild.textContent = s.value = one;
      drop.style.cssText = 'position:absolute;clip-path:inset(100%);clip:rect(0 0 0 0)';
    });
    box.onmousedown = () => { drop.style.cssText = 'position:absolute'; };`,
  ],
  'a button next to its select that opens links as options': [
    `<div><label for="s">Town of work *</label><div class="dropdown" style="position:relative"><select id="s" required tabindex="-98" style="position:absolute;width:.5px;opacity:0"><option value=""></option><option>Cork</option><option>Dublin</option><option>Dublin North</option></select>
     <button type="button" id="box" role="combobox" aria-haspopup="listbox" aria-owns="own"><div class="inner">Nothing selected</div></button><div id="drop" style="display:none"><ul id="own" role="presentation"></ul></div></div></div>`,
    `for (const one of cities) { const row = make('li', {}, own); const link = make('a', { role: 'option', href: '#' }, row); make('span', { class: 'text' }, link, one);
      link.onclick = (event) => { event.preventDefault(); window.chosen = s.value = box.firstChild.textContent = one; drop.style.display = 'none'; }; }
    box.onclick = () => { drop.style.display = drop.style.display === 'none' ? 'block' : 'none'; };`,
  ],
  'a transparent input over a box, with options without roles in a portal': [
    `<div><label for="box">Town of work *</label><div class="selector" id="selector" style="border:1px solid;width:200px;height:30px;position:relative"><span><input id="box" role="combobox" aria-required="true" readonly style="opacity:0;width:100%" aria-controls="hidden-list"></span><span id="shown" style="position:absolute;left:4px;top:4px;pointer-events:none">Select</span></div></div>`,
    `selector.onmousedown = () => setTimeout(() => {
      if (menu) return;
      menu = make('div', {}, document.body);
      const own = make('div', { id: 'hidden-list', role: 'listbox', style: 'height:0;width:0;overflow:hidden' }, menu);
      make('div', { role: 'option' }, own, 'Cork');
      for (const one of cities) {
        const row = make('div', { class: 'item', title: one }, menu);
        make('div', { class: 'content' }, row, one);
        row.onclick = () => { window.chosen = one; shown.textContent = one; close(); };
      }
    }, 80);`,
  ],
  'a button that opens at pointerdown and hides the rest of the page': [
    `<div><label id="l">Town of work *</label><button type="button" id="box" role="combobox" aria-expanded="false" aria-required="true" aria-labelledby="l"><span id="shown">Pick one</span></button></div>`,
    `box.addEventListener('pointerdown', () => {
      document.querySelector('form').setAttribute('aria-hidden', 'true');
      menu = make('div', {}, document.body);
      const list = make('div', { role: 'listbox' }, menu);
      for (const one of cities) { const row = make('div', { role: 'option' }, list); make('span', {}, row, one);
        row.addEventListener('pointerup', () => { window.chosen = shown.textContent = one; document.querySelector('form').removeAttribute('aria-hidden'); close(); }); }
    });`,
  ],
  'a div that opens at focus and highlights what is typed': [
    `<div><label for="box">Town of work *</label><div class="multi" id="wrap" tabindex="0" style="border:1px solid"><span id="shown">Select option</span><input id="box" role="combobox" aria-required="true" style="width:0;position:absolute;padding:0;border:0"></div></div>`,
    `const draw = () => { close(); menu = make('div', {}, wrap);
      for (const one of cities.filter((name) => name.toLowerCase().includes(box.value.toLowerCase()))) {
        const row = make('div', { class: 'row' }, menu);
        const size = one.toLowerCase().indexOf(box.value.toLowerCase()) + box.value.length;
        make('b', {}, row, one.slice(0, size)); row.append(one.slice(size));
        row.onmousedown = (event) => event.preventDefault();
        row.onclick = () => { window.chosen = shown.textContent = one; box.value = ''; close(); };
      } };
    wrap.onfocus = () => { box.focus(); draw(); };
    box.oninput = draw; box.onblur = close;`,
  ],
  'a menu button in a fieldset that keeps its placeholder': [
    `<fieldset><legend id="l">Town of work<sup aria-hidden="true">*</sup></legend><button type="button" id="box" aria-haspopup="menu" aria-required="true" aria-labelledby="l shown"><span id="shown"></span><span>Pick one</span></button><div id="m" role="menu" style="display:none"></div></fieldset>`,
    `for (const one of cities) make('button', { type: 'button', role: 'menuitemradio' }, m, one).onclick = () => { window.chosen = shown.textContent = one; m.style.display = 'none'; };
    box.onclick = () => { m.style.display = 'block'; };`,
  ],
  'a menu button that only a real press opens, next to a select without options': [
    `<div><label for="s">Town of work<span aria-hidden="true"> *</span></label><button type="button" id="box" aria-haspopup="true" aria-label="Town –Select–">–Select–</button><select aria-hidden="true" id="s" required tabindex="-1" style="height:0;opacity:0;position:absolute;width:0"><option value=""></option></select></div>`,
    `box.onclick = (event) => { if (event.detail === 0 || menu) return; menu = make('div', { role: 'menu' }, document.body);
      for (const one of cities) make('div', { role: 'menuitem' }, menu, one).onclick = () => { window.chosen = box.textContent = one; s.options[0].value = one; close(); }; };`,
  ],
  'a submit button that opens a list with the arrow key': [
    `<div><label for="box">Town of work *</label><button id="box" role="combobox" aria-required="true" aria-haspopup="listbox"><span id="shown">Pick</span></button></div>`,
    `box.onkeydown = (event) => { if (event.key !== 'ArrowDown' || menu) return; menu = make('div', { role: 'listbox' }, document.body);
      for (const one of cities) make('a', { role: 'option', href: '/elsewhere' }, menu, one).onclick = () => { window.chosen = shown.textContent = one; close(); }; };`,
  ],
};

describe('one driver operates every widget that opens', () => {
  test.for(Object.entries(widgets))('%s', async ([, [markup, script]]) => {
    const page = await pages.show(formWith(markup, script));
    expect(await fillCity(page)).toMatchObject({ kind: 'filled' });
    expect(await page.evaluate('window.chosen')).toBe('Dublin');
    expect(await page.evaluate('window.sent')).toBeUndefined();
  });

  test.for(Object.entries(widgets))('no option is guessed by %s', async ([, [markup, script]]) => {
    const page = await pages.show(formWith(markup, script));
    expect(await fillCity(page, 'Dub')).toMatchObject({ kind: 'invalid_payload' });
    expect(await page.evaluate('window.chosen')).toBeUndefined();
    expect(await page.evaluate('window.sent')).toBeUndefined();
  });
});

test('a part of an option without roles is no option', async () => {
  const page = await pages.show(
    formWith(
      `<div><label for="box">Town of work *</label><input id="box" role="combobox" aria-required="true"></div>`,
      `box.oninput = () => { close(); menu = make('div', {}, document.body); const row = make('div', {}, menu);
        make('span', { class: 'name' }, row, 'Dublin'); make('span', {}, row, 'Ohio'); row.onclick = () => { window.chosen = 'Ohio'; }; };`,
    ),
  );
  expect(await fillCity(page)).toMatchObject({ kind: 'invalid_payload' });
  expect(await page.evaluate('window.chosen')).toBeUndefined();
});

test('an option that the box does not show afterwards is not taken as chosen', async () => {
  const page = await pages.show(
    formWith(
      `<div><label for="box">Town of work *</label><button type="button" id="box" role="combobox" aria-required="true">Pick</button></div>`,
      `box.onclick = () => { menu = make('div', { role: 'listbox' }, document.body); make('div', { role: 'option' }, menu, 'Dublin').onclick = close; };`,
    ),
  );
  expect(await fillCity(page)).toMatchObject({ kind: 'form_unsupported' });
});
