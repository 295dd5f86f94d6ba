export const seal = (): string => 'seal';
