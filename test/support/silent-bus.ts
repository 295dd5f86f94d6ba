import type { Bus } from '#libs/domain/kernel';

/** For who rings where nobody listens. */
export const silentBus: Pick<Bus, 'publish'> = { publish: () => undefined };
