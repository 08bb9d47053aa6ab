"""Words as memory, recall and answering share them: tokens, stems, scripts, plurals."""
