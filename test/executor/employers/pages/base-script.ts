/**
 * The state of a page (`app.values`), and the listeners that update it. All listeners are on the
 * document, because `replaceScript` replaces widgets.
 */
export const baseScript = String.raw`
var app = (function () {
  var data = JSON.parse(document.getElementById('form-data').textContent);
  var byName = {};
  data.fields.forEach(function (field) { byName[field.name] = field; });
  return {
    data: data, byName: byName, values: {}, uploads: {}, pendingUploads: 0,
    nameOf: function (element) { return element.name || element.id; },
    on: function (type, selector, act) {
      document.addEventListener(type, function (event) {
        var target = event.target instanceof Element ? event.target.closest(selector) : null;
        if (target) act(target, event);
      });
    }
  };
})();
app.isTyped = function (element) {
  return !!app.byName[app.nameOf(element)] && element.getAttribute('role') !== 'combobox' &&
    !/^(file|radio|checkbox|hidden)$/.test(element.type);
};
app.render = function () {
  if (!app.data.isControlled) return;
  document.querySelectorAll('input, textarea').forEach(function (element) {
    if (!app.isTyped(element)) return;
    var value = app.values[app.nameOf(element)] || '';
    if (element.value !== value) element.value = value;
  });
};
app.on('input', 'input, textarea', function (element) {
  if (!app.isTyped(element)) return;
  app.values[app.nameOf(element)] = element.value;
  app.render();
});
app.on('change', 'select', function (element) {
  if (app.byName[element.name]) app.values[element.name] = element.value;
});
app.on('change', 'input[type=radio]', function (element) {
  if (app.byName[element.name]) app.values[element.name] = element.value;
  app.render();
});
app.on('change', 'input[type=checkbox]', function (element) {
  if (!app.byName[element.name]) return;
  var checked = [];
  document.querySelectorAll('input[type=checkbox]').forEach(function (other) {
    if (other.name === element.name && other.checked) checked.push(other.value);
  });
  app.values[element.name] = checked;
  app.render();
});
app.isAnswered = function (field) {
  if (field.control === 'file') return !!app.uploads[field.name];
  var value = app.values[field.name];
  return Array.isArray(value) ? value.length > 0 : !!value;
};
app.fieldsNotAnswered = function () {
  return app.data.fields.filter(function (field) { return field.isRequired && !app.isAnswered(field); });
};
`;

/**
 * Replaces the widgets by new elements with the same input values, as a framework does when it
 * mounts its components again. Widgets for files stay.
 */
export const replaceScript = String.raw`
app.templates = new Map();
app.rememberWidgets = function () {
  document.querySelectorAll(app.data.wrapper).forEach(function (wrapper, index) {
    if (!wrapper.querySelector('input[type=file]')) app.templates.set(index, wrapper.outerHTML);
  });
};
app.rememberWidgets();
app.replaceWidgets = function () {
  if (app.closeMenu) app.closeMenu();
  document.querySelectorAll(app.data.wrapper).forEach(function (wrapper, index) {
    var html = app.templates.get(index);
    if (html === undefined) return;
    var holder = document.createElement('div');
    holder.innerHTML = html;
    var fresh = holder.firstElementChild;
    var old = wrapper.querySelectorAll('input, select, textarea');
    fresh.querySelectorAll('input, select, textarea').forEach(function (element, at) {
      element.checked = old[at].checked;
      if (!/^(radio|checkbox)$/.test(element.type)) element.value = old[at].value;
    });
    wrapper.replaceWith(fresh);
    fresh.querySelectorAll('[role=combobox]').forEach(function (input) {
      if (app.showChosen) app.showChosen(input);
    });
  });
  app.render();
};
app.inputs = 0;
app.on('change', 'input, select, textarea', function () {
  app.inputs += 1;
  if (app.inputs === 2 || app.inputs === 5) setTimeout(app.replaceWidgets, 30);
});
`;

/**
 * Shows the form 600 ms after the page has loaded, and the employer's own questions 250 ms later.
 */
export const lateScript = String.raw`
setTimeout(function () {
  var root = document.getElementById('late-root');
  root.replaceChildren(document.getElementById('late-form').content.cloneNode(true));
  var questions = root.querySelector('.custom-questions');
  var held = [].slice.call(questions.childNodes);
  questions.replaceChildren();
  setTimeout(function () {
    questions.replaceChildren.apply(questions, held);
    root.removeAttribute('aria-busy');
  }, 250);
}, 600);
`;
