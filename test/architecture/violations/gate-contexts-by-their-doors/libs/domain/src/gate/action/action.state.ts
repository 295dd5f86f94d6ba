export const isOpen = true;
