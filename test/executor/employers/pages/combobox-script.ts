export interface ComboboxLook {
  readonly shell: string;
  readonly menuClass: string;
  /** The class of each option. If empty, each option is an `<li>` without a class. */
  readonly optionClass: string;
  /**
   * With `text`, an element next to the input shows the chosen option. With `input`, the input
   * shows it.
   */
  readonly shows: 'text' | 'input';
  /**
   * True if the menu is at the end of the body. False if it is at the end of the element that the
   * selector `shell` finds.
   */
  readonly isMenuInBody: boolean;
}

/**
 * The script of a combobox whose options appear with a delay. When the input loses the focus, the
 * typed text is removed.
 */
export function comboboxScript(look: ComboboxLook): string {
  return `app.look = ${JSON.stringify(look)};${script}`;
}

const script = String.raw`
app.lateMs = 120;
app.inputOf = function (shell) { return shell.querySelector('[role=combobox]'); };
app.labelOf = function (field, value) {
  var option = field.options.filter(function (one) { return one.value === value; })[0];
  return option ? option.label : '';
};
app.showChosen = function (input) {
  var field = app.byName[input.id];
  if (!field) return;
  var value = app.values[field.name] || '';
  var labels = [].concat(value).filter(Boolean).map(function (one) { return app.labelOf(field, one); });
  if (app.look.shows === 'input') { input.value = labels.join(', '); return; }
  var box = input.closest('.select__value-container');
  box.querySelectorAll('.select__single-value, .select__multi-value, .select__placeholder')
    .forEach(function (element) { element.remove(); });
  (labels.length ? labels : ['']).forEach(function (label) {
    var shown = document.createElement('div');
    shown.className = label === '' ? 'select__placeholder'
      : field.isMultiple ? 'select__multi-value' : 'select__single-value';
    shown.textContent = label === '' ? 'Select...' : label;
    box.insertBefore(shown, box.lastElementChild);
  });
  input.value = '';
};
app.closeMenu = function () {
  if (!app.opened) return;
  var id = app.opened;
  app.opened = undefined;
  var menu = document.getElementById(id + '-listbox');
  if (menu) menu.parentElement.remove();
  var input = document.getElementById(id);
  if (!input) return;
  input.setAttribute('aria-expanded', 'false');
  input.removeAttribute('aria-controls');
  input.removeAttribute('aria-activedescendant');
};
app.drawOptions = function (input, options, message) {
  if (app.opened !== input.id) return;
  var list = document.getElementById(input.id + '-listbox');
  list.replaceChildren();
  if (message) {
    var note = document.createElement('div');
    note.className = app.look.menuClass + '-notice';
    note.textContent = message;
    list.append(note);
  }
  var chosen = [].concat(app.values[input.id] || []);
  options.forEach(function (option, index) {
    var row = document.createElement(list.tagName === 'UL' ? 'li' : 'div');
    row.id = 'react-select-' + input.id + '-option-' + index;
    row.className = app.look.optionClass;
    row.setAttribute('role', 'option');
    row.setAttribute('aria-selected', String(chosen.indexOf(option.value) >= 0));
    row.dataset.value = option.value;
    row.textContent = option.label;
    list.append(row);
  });
  app.activeIndex = -1;
};
app.moveActive = function (input, step) {
  var rows = document.querySelectorAll('#' + CSS.escape(input.id + '-listbox') + ' [role=option]');
  if (!rows.length) return;
  app.activeIndex = (app.activeIndex + step + rows.length) % rows.length;
  input.setAttribute('aria-activedescendant', rows[app.activeIndex].id);
};
app.fillMenu = function (input) {
  var field = app.byName[input.id];
  var typed = input.readOnly ? '' : input.value.toLowerCase();
  if (app.look.shows === 'input' && typed === app.shownWhenOpened) typed = '';
  if (field.control === 'search' && typed.length < 2) {
    app.drawOptions(input, [], 'Type two letters to search');
    return;
  }
  app.drawOptions(input, [], 'Loading...');
  var matches = function (option) { return option.label.toLowerCase().indexOf(typed) >= 0; };
  var stillTyped = function () { return document.getElementById(input.id).value.toLowerCase(); };
  var asked = stillTyped();
  var draw = function (options) {
    if (stillTyped() === asked) app.drawOptions(input, options, options.length ? '' : 'No options');
  };
  if (field.control !== 'search') setTimeout(function () { draw(field.options.filter(matches)); }, app.lateMs);
  else fetch('/options?field=' + encodeURIComponent(field.name) + '&q=' + encodeURIComponent(typed))
    .then(function (answer) { return answer.json(); })
    .then(function (found) { field.options = found; draw(found); });
};
app.openMenu = function (input) {
  if (app.opened === input.id) return;
  app.closeMenu();
  app.opened = input.id;
  app.shownWhenOpened = input.value.toLowerCase();
  var menu = document.createElement('div');
  menu.className = app.look.menuClass;
  var list = document.createElement(app.look.optionClass === '' ? 'ul' : 'div');
  list.id = input.id + '-listbox';
  list.setAttribute('role', 'listbox');
  menu.append(list);
  (app.look.isMenuInBody ? document.body : input.closest(app.look.shell)).append(menu);
  input.setAttribute('aria-expanded', 'true');
  input.setAttribute('aria-controls', list.id);
  app.fillMenu(input);
};
app.choose = function (row) {
  var input = document.getElementById(app.opened);
  var field = app.byName[input.id];
  var value = row.dataset.value;
  if (!field.isMultiple) app.values[field.name] = value;
  else {
    var values = app.values[field.name] || [];
    app.values[field.name] = values.indexOf(value) >= 0
      ? values.filter(function (one) { return one !== value; }) : values.concat([value]);
  }
  app.closeMenu();
  app.showChosen(input);
  app.render();
  input.dispatchEvent(new Event('change', { bubbles: true }));
};
app.on('mousedown', '[role=listbox]', function (list, event) { event.preventDefault(); });
app.on('mousedown', app.look.shell, function (shell, event) {
  if (event.target.closest('[role=listbox]')) return;
  var input = app.inputOf(shell);
  if (event.target !== input) event.preventDefault();
  input.focus();
  if (app.opened !== input.id) app.openMenu(input);
  else if (event.target !== input) app.closeMenu();
});
app.on('click', '[role=option]', function (row) { if (app.opened) app.choose(row); });
app.on('input', '[role=combobox]', function (input) { app.openMenu(input); app.fillMenu(input); });
app.on('keydown', '[role=combobox]', function (input, event) {
  if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    event.preventDefault();
    if (app.opened === input.id) app.moveActive(input, event.key === 'ArrowDown' ? 1 : -1);
    else app.openMenu(input);
  } else if (event.key === 'Enter' && app.opened === input.id) {
    event.preventDefault();
    var active = document.getElementById(input.getAttribute('aria-activedescendant') || '');
    if (active) app.choose(active);
  } else if (event.key === 'Escape') app.closeMenu();
});
app.on('focusout', '[role=combobox]', function (input) {
  if (app.opened === input.id) app.closeMenu();
  app.showChosen(input);
});
`;
