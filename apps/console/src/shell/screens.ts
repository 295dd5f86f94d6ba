import type { IconName } from '../design/icon.tsx';

export interface Screen {
  readonly path: string;
  readonly name: string;
  readonly icon: IconName;
  /** After `g`. */
  readonly key: string;
}

/** In the order of the rail: the screens that there are. */
export const SCREENS: readonly Screen[] = [
  { path: '/', name: 'Overview', icon: 'home', key: 'o' },
  { path: '/actions', name: 'Actions', icon: 'activity', key: 'a' },
  { path: '/approvals', name: 'Approvals', icon: 'people', key: 'p' },
  { path: '/agents', name: 'Agents', icon: 'robot', key: 'g' },
  { path: '/policies', name: 'Policies', icon: 'scroll', key: 'l' },
  { path: '/connectors', name: 'Connectors', icon: 'plug', key: 'c' },
  { path: '/insights', name: 'Insights', icon: 'bulb', key: 'i' },
  { path: '/deeds', name: 'Deeds', icon: 'stamp', key: 'd' },
  { path: '/settings', name: 'Settings', icon: 'sliders', key: 's' },
];

/** Those of a phone's bottom bar; the others stand behind More. */
export const BAR: readonly string[] = ['/', '/approvals', '/actions', '/agents'];

export const isAt = (screen: Screen, location: string): boolean =>
  screen.path === '/'
    ? location === '/' || location === ''
    : location === screen.path || location.startsWith(`${screen.path}/`);
