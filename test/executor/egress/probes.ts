/**
 * Ways in which a page can try to contact `target`, or to open a local file or a page of the
 * browser itself. Each function returns JavaScript that the page runs.
 */
const probes: Readonly<Record<string, (target: string) => string>> = {
  fetch: (target) => `fetch('http://${target}/fetch', { mode: 'no-cors' })`,
  post: (target) =>
    `fetch('http://${target}/post', { method: 'POST', mode: 'no-cors', body: 'x' })`,
  beacon: (target) => `navigator.sendBeacon('http://${target}/beacon', 'x')`,
  image: (target) => `new Image().src = 'http://${target}/image'`,
  frame: (target) => add('iframe', { src: `http://${target}/frame` }),
  script: (target) => add('script', { src: `http://${target}/script.js` }),
  style: (target) => add('link', { rel: 'stylesheet', href: `http://${target}/style.css` }),
  preconnect: (target) => add('link', { rel: 'preconnect', href: `http://${target}` }),
  prefetch: (target) => add('link', { rel: 'prefetch', href: `http://${target}/prefetch` }),
  dnsPrefetch: (target) => add('link', { rel: 'dns-prefetch', href: `http://${target}` }),
  video: (target) => add('video', { src: `http://${target}/video`, autoplay: '' }),
  object: (target) => add('object', { data: `http://${target}/object` }),
  form: (target) =>
    `{ ${add('iframe', { name: 'sink' })}; const form = document.createElement('form');
       Object.assign(form, { action: 'http://${target}/form', method: 'post', target: 'sink' });
       document.body.append(form); form.submit(); }`,
  redirect: (target) => `fetch('/redirect?to=http://${target}/redirect', { mode: 'no-cors' })`,
  frameRedirect: (target) => add('iframe', { src: `/redirect?to=http://${target}/redirect` }),
  socket: (target) => `new WebSocket('ws://${target}/socket')`,
  events: (target) => `new EventSource('http://${target}/events')`,
  worker: (target) => `new Worker(${blobOf(target)})`,
  sharedWorker: (target) => `new SharedWorker(${blobOf(target)})`,
  importScripts: (target) =>
    `new Worker(URL.createObjectURL(new Blob(["importScripts('http://${target}/import.js')"])))`,
  module: (target) => `import('http://${target}/module.js')`,
  popup: (target) => `window.open('http://${target}/popup')`,
  speculation: (target) =>
    `{ const rules = document.createElement('script'); rules.type = 'speculationrules';
       rules.textContent = JSON.stringify({ prerender: [{ urls: ['http://${target}/prerender'] }] });
       document.body.append(rules); }`,
  webTransport: (target) => `new WebTransport('https://${target}/')`,
  webRtc: (target) =>
    `{ const peer = new RTCPeerConnection({ iceServers: [{ urls: 'stun:${target}' },
         { urls: ['turn:${target}', 'turn:${target}?transport=tcp'], username: 'a', credential: 'b' }] });
       peer.createDataChannel('x'); peer.createOffer().then((offer) => peer.setLocalDescription(offer)); }`,
  files: () => `fetch('file:///etc/hostname').then(() => { document.title = 'read a file'; })`,
  fileFrame: () => add('iframe', { src: 'file:///etc/hostname' }),
  settings: () => add('iframe', { src: 'chrome://version' }),
};

function add(tag: string, attributes: Readonly<Record<string, string>>): string {
  return `document.body.append(Object.entries(${JSON.stringify(attributes)}).reduce(
    (element, [name, value]) => (element.setAttribute(name, value), element),
    document.createElement('${tag}')))`;
}

function blobOf(target: string): string {
  return `URL.createObjectURL(new Blob(["fetch('http://${target}/worker', { mode: 'no-cors' })"]))`;
}

export function probeAll(targets: readonly string[]): string {
  const codes = targets.flatMap((target) => Object.values(probes).map((probe) => probe(target)));
  return codes.map((code) => `try { ${code} } catch {}`).join('\n');
}
