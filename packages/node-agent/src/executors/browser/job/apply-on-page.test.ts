import { expect, test } from 'vitest';
import { form, run, startSite } from './site.fixture.ts';

test('an application is sent once, confirmed and metered, and leaves nothing behind', async () => {
  const site = await startSite('<h1>Thank you for applying</h1><p>Your reference is A-4711.</p>');
  const { result, usages, logged, left } = await run(site);
  expect(result).toEqual({
    confirmationId: 'A-4711',
    details: {
      adapter: 'generic',
      fieldsFilled: 2,
      fieldsLeft: 1,
      steps: 1,
      durationMs: expect.any(Number),
    },
  });
  expect(site.posts).toEqual(['n=Ada+Byron&m=ada%40mail.example&o=']);
  const last = usages.at(-1);
  // One navigation, two fields, one click.
  expect(last?.actions).toBe(4);
  expect(last?.cpuSeconds).toBeGreaterThan(0);
  expect(last?.memoryGbSeconds).toBeGreaterThan(0);
  expect(last?.bandwidthMb).toBeGreaterThan(0.0005);
  expect(logged.join('\n')).not.toMatch(/Ada|Byron|mail\.example|Full name|welder/u);
  expect(left).toEqual([]);
});

test('nothing is sent if the journal cannot be written', async () => {
  const site = await startSite('<h1>Thank you for applying</h1>');
  const { error } = await run(site, {
    journal: async () => await Promise.reject(new Error('disk full')),
  });
  expect(error).toMatchObject({ message: 'disk full' });
  expect(site.posts).toEqual([]);
});

test('an address that the network rules refuse is not retriable', async () => {
  const site = await startSite('');
  const { error } = await run(site, { applicationUrl: 'http://10.1.2.3/welder' });
  expect(error).toMatchObject({ code: 'site_unreachable', retriable: false });
});

test('a browser that does not start is logged with the submission', async () => {
  const { error, logged } = await run(await startSite(''), { binary: '/bin/false' });
  expect(error).toBeDefined();
  expect(logged).toContainEqual(
    expect.stringMatching(/^the browser did not start .*"submissionId":"sub_1"/u),
  );
});

test('a job that takes too long ends before its tier does', async () => {
  const site = await startSite('', '<!doctype html><p>Loading</p>');
  const startedMs = performance.now();
  const { error, left } = await run(site, { maxNodeSeconds: 12 });
  expect(error).toMatchObject({
    code: 'node_error',
    message: expect.stringContaining('more time'),
  });
  expect(performance.now() - startedMs).toBeLessThan(12_000);
  expect(left).toEqual([]);
});

test('a page that checks its fields itself is not an unknown outcome', async () => {
  const page = form.replace('<form ', '<form novalidate ').replace(
    '</form>',
    `</form><script>document.querySelector('form').onsubmit = (event) => {
      event.preventDefault();
      const input = document.querySelector('[name=m]');
      input.setAttribute('aria-invalid', 'true');
    };</script>`,
  );
  const site = await startSite('', page);
  const { error } = await run(site);
  expect(error).toMatchObject({
    code: 'invalid_payload',
    message: 'The page refused the values of these fields: “Email”.',
  });
  expect(site.posts).toEqual([]);
});
