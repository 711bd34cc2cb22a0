export * from './find-browser.ts';
export * from './launch-error.ts';
export * from './open-browser.ts';
export { deleteLeftoverProfiles, newProfileDirectory } from './profile-directory.ts';
export { whileConnected } from './while-connected.ts';
