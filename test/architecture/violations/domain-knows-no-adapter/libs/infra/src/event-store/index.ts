export const appendEvents = (): void => {};
