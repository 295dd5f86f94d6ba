export const newActionId = (): string => 'act';
