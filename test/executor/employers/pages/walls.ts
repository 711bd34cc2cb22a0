import type { Behaviour } from '../behaviours.ts';
import type { FixtureAnswer, FixtureRequest } from '../server/listen.ts';
import { pageAnswer } from './html.ts';

export type CaptchaKind = 'recaptcha' | 'hcaptcha' | 'turnstile';

const frames: Record<CaptchaKind, { title: string; path: string; width: number; height: number }> =
  {
    recaptcha: { title: 'reCAPTCHA', path: '/recaptcha/api2/anchor', width: 304, height: 78 },
    hcaptcha: {
      title: 'Widget containing checkbox for hCaptcha security challenge',
      path: '/captcha/v1/hcaptcha.html',
      width: 303,
      height: 78,
    },
    turnstile: {
      title: 'Widget containing a Cloudflare security challenge',
      path: '/cdn-cgi/challenge-platform/turnstile.html',
      width: 300,
      height: 65,
    },
  };

const responseNames: Record<CaptchaKind, string> = {
  recaptcha: 'g-recaptcha-response',
  hcaptcha: 'h-captcha-response',
  turnstile: 'cf-turnstile-response',
};

export function visibleChallenge(kind: CaptchaKind): string {
  const { title, path, width, height } = frames[kind];
  const className = { recaptcha: 'g-recaptcha', hcaptcha: 'h-captcha', turnstile: 'cf-turnstile' };
  return `<div class="${className[kind]}" data-sitekey="fixture"><iframe title="${title}" src="${path}?size=normal#frame=checkbox" width="${width}" height="${height}"></iframe>
<textarea name="${responseNames[kind]}" style="display:none"></textarea></div>`;
}

/**
 * The script, the badge and the hidden field of a captcha that asks the person nothing. The badge
 * of reCAPTCHA is a visible frame in the corner of the window.
 */
function invisibleCaptcha(kind: CaptchaKind): string {
  const badge = {
    recaptcha: `<div class="grecaptcha-badge" style="width:256px;height:60px;position:fixed;bottom:14px;right:-186px"><iframe title="reCAPTCHA" src="/recaptcha/api2/anchor?size=invisible" width="256" height="60"></iframe></div>`,
    hcaptcha: `<div id="h-captcha" class="h-captcha" data-size="invisible" data-sitekey="fixture"><iframe title="hCaptcha" src="/captcha/v1/hcaptcha.html?size=invisible" style="display:none"></iframe></div>`,
    turnstile: `<div class="cf-turnstile" data-appearance="interaction-only"></div>`,
  };
  return `<script src="/captcha.js?render=fixture"></script>${badge[kind]}<textarea id="${responseNames[kind]}" name="${responseNames[kind]}" style="display:none"></textarea>
<p class="legal">This site is protected by a captcha, and its privacy policy and terms of service apply.</p>`;
}

export function captchaPart(behaviour: Behaviour, kind: CaptchaKind): string {
  if (behaviour === 'visible-challenge') return visibleChallenge(kind);
  if (behaviour === 'invisible-captcha' || behaviour === 'captcha-refused') {
    return invisibleCaptcha(kind);
  }
  return '';
}

/** Answers a request for the captcha's frame or script. Returns undefined for any other request. */
export function captchaResource({ path, query }: FixtureRequest): FixtureAnswer | undefined {
  if (path === '/captcha.js') {
    return {
      status: 200,
      headers: { 'content-type': 'text/javascript' },
      body: `window.captchaToken = function () { return Promise.resolve('fixture-token'); };`,
    };
  }
  if (!Object.values(frames).some((frame) => frame.path === path)) return undefined;
  return pageAnswer(
    'captcha',
    query.get('size') === 'invisible'
      ? '<div class="rc-anchor-invisible">protected by reCAPTCHA</div>'
      : '<div role="checkbox" aria-checked="false" tabindex="0" id="recaptcha-anchor"></div> I am not a robot',
  );
}

export function signInPage(): FixtureAnswer {
  return pageAnswer(
    'Sign in',
    `<main><h1>Sign in to apply</h1><form method="post" action="/users/sign_in">
<p><label for="user_email">Email</label><input id="user_email" name="user[email]" type="email" autocomplete="username" required></p>
<p><label for="user_password">Password</label><input id="user_password" name="user[password]" type="password" autocomplete="current-password" required></p>
<button type="submit">Sign in</button></form><a href="/users/sign_up">Create an account</a></main>`,
  );
}
