export type * from './form-model.ts';
export { normaliseLabel } from './label.ts';
export * from './messages.ts';
export { chooseOptions } from './options.ts';
export { planForm } from './plan.ts';
export type * from './profile.ts';
export { readProfile } from './read-profile.ts';
export { isForeign, roleAmong, roleOfAutocomplete, roleOfLabel } from './roles.ts';
