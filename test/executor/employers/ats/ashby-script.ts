/** The script of Ashby's form, which saves each changed answer. */
export const ashbyScript = String.raw`
app.saves = 0;
app.call = function (operation, variables) {
  return fetch('/api/non-user-graphql?op=' + operation, {
    method: 'POST', headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ operationName: operation, variables: variables, query: 'mutation ' + operation })
  });
};
app.save = function (path) {
  clearTimeout(app['timer ' + path]);
  if (!app['timer ' + path]) app.saves += 1;
  app['timer ' + path] = setTimeout(function () {
    app['timer ' + path] = undefined;
    var done = function () { app.saves -= 1; };
    app.call('ApiSetFormValue', {
      formRenderIdentifier: app.data.formId, path: path, value: app.values[path]
    }).then(done, done);
  }, 60);
};
app.pathOf = function (element) {
  return element.closest('[data-field-path]').getAttribute('data-field-path');
};
app.on('input', '[data-field-path] input, [data-field-path] textarea', function (input) {
  if (app.isTyped(input)) app.save(app.pathOf(input));
});
app.on('change', '[data-field-path] input', function (input) {
  if (input.type !== 'file' && !app.isTyped(input)) app.save(app.pathOf(input));
});
app.on('click', '._yesno_ button', function (button) {
  var path = app.pathOf(button);
  app.values[path] = button.textContent;
  button.parentElement.querySelectorAll('button').forEach(function (other) {
    other.classList.toggle('_active_', other === button);
    other.setAttribute('aria-pressed', String(other === button));
  });
  button.parentElement.querySelector('input').checked = button.textContent === 'Yes';
  app.save(path);
});
app.on('click', '[data-upload]', function (button) {
  document.getElementById(button.dataset.upload).click();
});
app.on('change', '#autofill-input', function (input) {
  if (!input.files.length) return;
  ['_systemfield_name', '_systemfield_email'].forEach(function (path) {
    app.values[path] = 'autofilled';
    app.save(path);
  });
  app.render();
});
app.on('click', '.ashby-application-form-submit-button', function (button) {
  var wait = function () {
    if (app.saves || app.pendingUploads) { setTimeout(wait, 20); return; }
    app.submit();
  };
  wait();
});
app.data.submitUrl = '/api/non-user-graphql?op=ApiSubmitSingleApplicationFormAction';
app.submissionBody = function (token) {
  return {
    operationName: 'ApiSubmitSingleApplicationFormAction',
    variables: {
      organizationHostedJobsPageName: 'acme', formRenderIdentifier: app.data.formId,
      actionIdentifier: 'submit', recaptchaToken: token,
      files: app.uploads
    },
    query: 'mutation ApiSubmitSingleApplicationFormAction'
  };
};
app.showErrors = function (errors) {
  app.showFieldErrors(errors.map(function (error) {
    return { name: error.name, message: error.message };
  }), '_error_ ashby-application-form-error');
  var root = document.querySelector('.ashby-application-form-errors');
  root.setAttribute('role', 'alert');
  root.textContent = 'Your form needs corrections: ' + errors.map(function (error) {
    var field = app.byName[error.name];
    return 'Missing entry for required field: ' + (field ? field.label : error.name);
  }).join(', ');
};
app.showFailure = function (text) {
  app.showPage('<div class="ashby-application-form-failure-container" role="alert"><h2>We couldn’t submit your application.</h2><p>' +
    text + '</p></div>');
};
app.answered = function (status, body) {
  var action = body.data && body.data.submitSingleApplicationFormAction;
  if (status !== 200 || !action) {
    var code = body.errors && body.errors[0].extensions.code;
    app.showFailure(code ? 'Your application submission was flagged as possible spam.' : 'Please try again.');
    return;
  }
  var result = action.applicationFormResult;
  if (result.__typename === 'FormRender') app.showErrors(result.errorMessages.map(function (error) {
    return { name: error.path, message: error.message };
  }));
  else if (action.messages.blockMessageForCandidateHtml) app.showPage(
    '<div class="ashby-application-form-blocked-application-container" role="alert"><h2>We couldn’t submit your application.</h2><p>' +
    action.messages.blockMessageForCandidateHtml + '</p></div>');
  else app.showPage('<div class="ashby-application-form-success-container" role="status"><h2>Success</h2><p>Your application was successfully submitted. We will contact you if there are next steps.</p></div>');
};
`;
