"""The course in other languages: what there is to translate, the catalogues, and translated
notebooks.
"""
