import { createRoot } from 'react-dom/client';
import '../design/base.css';
import { KitPage } from './kit-page.tsx';

const root = document.getElementById('root');
if (root !== null) createRoot(root).render(<KitPage />);
