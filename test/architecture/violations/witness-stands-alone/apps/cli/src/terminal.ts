export const terminal = 'terminal';
