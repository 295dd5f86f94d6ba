const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

/** How many bytes something has: `812 bytes`, `16 MiB`, `1.5 GiB`. */
export const size = (bytes: number): string => {
  let [amount, unit] = [bytes, 0];
  // What would be rounded to 1,024 is one of the next unit.
  while (amount >= 1_023.5 && unit < UNITS.length - 1) [amount, unit] = [amount / 1_024, unit + 1];
  if (unit === 0) return bytes === 1 ? '1 byte' : `${amount.toLocaleString('en')} bytes`;
  const digits = amount < 9.95 ? 1 : 0;
  return `${amount.toFixed(digits).replace(/\.0$/, '')} ${UNITS[unit] ?? ''}`;
};
