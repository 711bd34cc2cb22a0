/**
 * These features open connections that no page asked for, look for other devices in the network,
 * restore an earlier page, or disturb automation.
 */
const disabledFeatures = [
  'AimEnabled',
  'AutofillServerCommunication',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'BackForwardCache',
  'CertificateTransparencyComponentUpdater',
  'DestroyProfileOnBrowserClose',
  'DialMediaRouteProvider',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'InterestFeedContentSuggestions',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'Translate',
  // This feature joins a multicast group of the home network. WebRTC has no UDP here, so pages see
  // no local address even without the feature.
  'WebRtcHideLocalIpsWithMdns',
];

/** The most bytes of the disk cache, which is in the profile directory of the job. */
const diskCacheBytesMax = 64 * 1024 * 1024;

export interface FlagInput {
  readonly profileDirectory: string;
  readonly isSandboxed: boolean;
}

/**
 * By default Chromium sends requests to loopback and link-local addresses directly. With this
 * bypass list, these requests go through the proxy, too.
 */
export const proxyBypass = '<-loopback>';

/**
 * The browser itself reaches no network: it looks up no name, and its proxy does not exist. The
 * pages use the guarded proxy of their context instead.
 */
const networkFlags = [
  '--proxy-server=http://none.invalid:1',
  `--proxy-bypass-list=${proxyBypass}`,
  '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-quic',
  '--dns-prefetch-disable',
  '--no-pings',
  // Shared workers are off, because the request gate does not see their requests (decision 28).
  // Service workers need another option: the browser context blocks them (`serviceWorkers`).
  '--disable-shared-workers',
];

const quietFlags = [
  '--disable-background-networking',
  '--disable-breakpad',
  '--disable-client-side-phishing-detection',
  '--disable-component-extensions-with-background-pages',
  '--disable-component-update',
  '--disable-crash-reporter',
  '--disable-default-apps',
  '--disable-domain-reliability',
  '--disable-extensions',
  '--disable-field-trial-config',
  '--disable-notifications',
  '--disable-print-preview',
  '--disable-search-engine-choice-screen',
  '--disable-stack-profiler',
  '--disable-sync',
  '--disable-updater-scheduler',
  '--metrics-recording-only',
  '--mute-audio',
  '--no-default-browser-check',
  '--no-first-run',
  '--no-service-autorun',
  '--password-store=basic',
  '--use-mock-keychain',
];

/**
 * Flags for a browser that a program operates. With them, for example, a page in the background
 * runs like one in the foreground, and no dialog asks about a hung page.
 */
const automationFlags = [
  '--allow-pre-commit-input',
  // Keeps a page from opening a new page. The submit fence closes new pages, too, but a script in a
  // new page may run before the fence closes it.
  '--block-new-web-contents',
  '--disable-back-forward-cache',
  '--disable-background-timer-throttling',
  '--disable-backgrounding-occluded-windows',
  '--disable-dev-shm-usage',
  '--disable-hang-monitor',
  '--disable-infobars',
  '--disable-ipc-flooding-protection',
  '--disable-popup-blocking',
  '--disable-prompt-on-repost',
  '--disable-renderer-backgrounding',
  '--force-color-profile=srgb',
  '--hide-scrollbars',
];

/** The whole command line of the browser (CONTRACT 10). */
export function browserFlags({ profileDirectory, isSandboxed }: FlagInput): string[] {
  return [
    '--headless',
    '--enable-automation',
    `--user-data-dir=${profileDirectory}`,
    '--remote-debugging-pipe',
    '--no-startup-window',
    `--disk-cache-size=${diskCacheBytesMax}`,
    `--disable-features=${disabledFeatures.join(',')}`,
    ...networkFlags,
    ...quietFlags,
    ...automationFlags,
    ...(isSandboxed ? [] : ['--no-sandbox']),
  ];
}

/**
 * Preferences for a full Chromium. They switch off, for example, autofill, saved passwords and
 * downloads.
 */
export const browserPreferences = {
  autofill: { credit_card_enabled: false, profile_enabled: false },
  credentials_enable_service: false,
  dns_prefetching: { enabled: false },
  download: { prompt_for_download: false },
  download_restrictions: 3,
  net: { network_prediction_options: 2 },
  printing: { enabled: false },
  profile: { password_manager_enabled: false },
  safebrowsing: { enabled: false },
  search: { suggest_enabled: false },
  translate: { enabled: false },
  webrtc: { ip_handling_policy: 'disable_non_proxied_udp' },
};
