import { createRoot } from 'react-dom/client';
import { App } from './app';
import { applyTheme } from './format/preferences';
import './styles/tokens.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/parts.css';
import './styles/developers.css';
import './styles/dashboard.css';

applyTheme();
createRoot(document.getElementById('root')!).render(<App />);
