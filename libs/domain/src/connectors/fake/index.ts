export { fakeConfigOf } from './fake-config.js';
export { FAKE_TOOLS } from './fake-tools.js';
